#!/usr/bin/env python3
"""Writes merge_patch.json: what `kubectl patch --local --type=merge` makes of an object. See kubectl_patch.py."""

import kubectl_patch

OBJECT = {
    "apiVersion": "example.com/v1", "kind": "Widget",
    "metadata": {"name": "it", "labels": {"app": "a", "x/y": "slash"}},
    "spec": {"number": 1, "text": "t", "flag": True, "list": [1, {"a": None}, "x"], "map": {"a": {"b": {"c": 1}}, "d": {}},
             "objects": [{"name": "a"}, {"name": "b"}]},
    "status": {"count": 0},
}

CASES = []


def case(name, patch):
    CASES.append((name, OBJECT, patch))


def spec(**fields):
    return {"spec": fields}


case("empty", {})
case("set a number", spec(number=2))
case("set the same number", spec(number=1))
case("a number becomes a string", spec(number="2"))
case("a string becomes an object", spec(text={"a": 1}))
case("an object becomes a string", spec(map="x"))
case("an object becomes an array", spec(map=[1, 2]))
case("an array becomes an object", spec(list={"a": 1}))
case("an array is replaced", spec(list=[2]))
case("an array is emptied", spec(list=[]))
case("an array with nulls", spec(list=[None, 1]))
case("an array of objects is replaced", spec(objects=[{"name": "c"}]))
case("an array of objects with nulls inside", spec(objects=[{"name": "c", "gone": None}]))
case("an array of arrays", spec(list=[[1], [2, [3]]]))
case("remove a scalar", spec(number=None))
case("remove an object", spec(map=None))
case("remove an array", spec(list=None))
case("remove a nested member", spec(map={"a": {"b": None}}))
case("remove the last member", {"status": {"count": None}})
case("remove what is not there", spec(nothing=None))
case("remove under what is not there", spec(nothing={"deep": None}))
case("remove under a scalar", spec(text={"deep": None}))
case("remove a whole part", {"status": None})
case("add a scalar", spec(new=1))
case("add an object", spec(new={"a": {"b": 1}}))
case("add an object with a null", spec(new={"a": None, "b": 1}))
case("add an object with only a null", spec(new={"a": None}))
case("add an object with deep nulls", spec(new={"a": {"b": {"c": None, "d": 1}}}))
case("add an empty object", spec(new={}))
case("add an empty array", spec(new=[]))
case("add to an empty object", spec(map={"d": {"e": 1}}))
case("an empty object changes nothing", spec(map={}))
case("a label", {"metadata": {"labels": {"app": "b"}}})
case("a label with a slash", {"metadata": {"labels": {"x/y": None, "p/q": "r"}}})
case("directives mean nothing here", spec(map={"$patch": "replace", "z": 1}))
case("booleans", spec(flag=False))
case("zero is not null", spec(number=0, text="", flag=False))
case("many at once", {"metadata": {"labels": None, "annotations": {"a": "b"}}, "spec": {"map": {"a": None, "n": [1]}, "text": "u"}})
case("unicode", spec(text="ü→😀"))
case("a large number", spec(number=9007199254740993))
case("a negative number", spec(number=-1))
case("a fraction", spec(number=0.5))
case("deep", spec(map={"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}))

if __name__ == "__main__":
    kubectl_patch.write("merge", CASES, "merge_patch.json")
