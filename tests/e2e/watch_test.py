"""Lists and watches: revisions, resumption, bookmarks, initial events, pages, selectors, and what is too old."""
import json
from urllib.parse import quote

from harness import E2E, main, setUpModule, tearDownModule  # noqa: F401  pylint: disable=unused-import

MAPS = "/api/v1/namespaces/{ns}/configmaps"
MERGE = {"Content-Type": "application/merge-patch+json"}


def shape(event):
    return event["type"], event["object"]["metadata"].get("name")


class WatchTest(E2E):
    def maps(self, query=""):
        return self.path(MAPS) + query

    def revision(self):
        return self.api("GET", MAPS)["metadata"]["resourceVersion"]

    def test_from_a_list_every_change_comes_in_order(self):
        self.config_map("before")
        with self.cluster.watch(self.maps(f"?watch=1&resourceVersion={self.revision()}")) as watch:
            self.assertEqual(watch.status, 200)
            self.config_map("a", {"k": "1"})
            changed = self.api("PATCH", MAPS + "/a", {"data": {"k": "2"}}, headers=MERGE)
            self.api("DELETE", MAPS + "/a")
            events = watch.until(lambda e: e["type"] == "DELETED")
        self.assertEqual([shape(e) for e in events], [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")])
        self.assertEqual(events[1]["object"], changed)
        revisions = [int(e["object"]["metadata"]["resourceVersion"]) for e in events]
        self.assertEqual(revisions, sorted(set(revisions)))
        self.assertEqual(events[2]["object"]["data"], {"k": "2"})

    def test_it_resumes_after_any_event(self):
        start = self.revision()
        for name in "abcd":
            self.config_map(name)
        with self.cluster.watch(self.maps(f"?watch=1&resourceVersion={start}")) as watch:
            events = watch.until(lambda e: shape(e) == ("ADDED", "d"))
        for position, event in enumerate(events[:-1]):
            with self.cluster.watch(self.maps(f"?watch=1&resourceVersion={event['object']['metadata']['resourceVersion']}")) as again:
                self.assertEqual(again.until(lambda e: shape(e) == ("ADDED", "d")), events[position + 1:])

    def test_from_nothing_the_present_comes_first(self):
        for name in "ab":
            self.config_map(name)
        for query in ("?watch=1", "?watch=1&resourceVersion=0"):
            with self.cluster.watch(self.maps(query)) as watch:
                self.assertEqual(sorted(shape(watch.next()) for _ in "ab"), [("ADDED", "a"), ("ADDED", "b")])
                self.config_map(f"c{len(query)}")
                self.assertEqual(shape(watch.next()), ("ADDED", f"c{len(query)}"))
            self.api("DELETE", MAPS + f"/c{len(query)}")

    def test_selectors_turn_changes_into_coming_and_going(self):
        with self.cluster.watch(self.maps(f"?watch=1&labelSelector={quote('in=yes')}&resourceVersion={self.revision()}")) as watch:
            self.config_map("a")
            self.config_map("b", labels={"in": "yes"})
            self.api("PATCH", MAPS + "/a", {"metadata": {"labels": {"in": "yes"}}}, headers=MERGE)
            self.api("PATCH", MAPS + "/a", {"metadata": {"labels": {"in": "no"}}}, headers=MERGE)
            events = watch.until(lambda e: e["type"] == "DELETED")
        self.assertEqual([shape(e) for e in events], [("ADDED", "b"), ("ADDED", "a"), ("DELETED", "a")])

    def test_one_object_by_field(self):
        with self.cluster.watch(self.maps(f"?watch=1&fieldSelector=metadata.name%3Db&resourceVersion={self.revision()}")) as watch:
            self.config_map("a")
            self.config_map("b")
            self.assertEqual(shape(watch.next()), ("ADDED", "b"))

    def test_the_timeout_ends_it(self):
        with self.cluster.watch(self.maps("?watch=1&timeoutSeconds=1")) as watch:
            self.assertIsNone(watch.next())

    def test_a_bookmark_before_the_end_tells_how_far_others_have_come(self):
        start = self.revision()
        with self.cluster.watch(self.maps(f"?watch=1&allowWatchBookmarks=true&timeoutSeconds=5&resourceVersion={start}")) as watch:
            elsewhere = self.api("POST", f"/api/v1/namespaces/{self.new_namespace()}/configmaps", {"metadata": {"name": "x"}}, expect=201)
            event = watch.until(lambda e: e["type"] == "BOOKMARK")[-1]["object"]
        self.assertEqual((event["kind"], event["apiVersion"]), ("ConfigMap", "v1"))
        self.assertGreaterEqual(int(event["metadata"]["resourceVersion"]), int(elsewhere["metadata"]["resourceVersion"]))

    def test_initial_events_end_with_a_bookmark(self):
        for name in "ab":
            self.config_map(name)
        query = "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion="
        with self.cluster.watch(self.maps(query)) as watch:
            events = watch.until(lambda e: e["type"] == "BOOKMARK")
            self.assertEqual([shape(e) for e in events[:-1]], [("ADDED", "a"), ("ADDED", "b")])
            self.assertEqual(events[-1]["object"]["metadata"]["annotations"], {"k8s.io/initial-events-end": "true"})
            at = int(events[-1]["object"]["metadata"]["resourceVersion"])
            self.assertGreaterEqual(at, max(int(e["object"]["metadata"]["resourceVersion"]) for e in events[:-1]))
            self.config_map("c")
            self.assertEqual([shape(e) for e in watch.until(lambda e: e["type"] == "ADDED") if e["type"] != "BOOKMARK"], [("ADDED", "c")])

    def test_initial_events_need_their_match(self):
        status = self.api("GET", MAPS + "?watch=1&sendInitialEvents=true", expect=422)
        self.assertIn("sendInitialEvents", status["message"])
        self.assertIn("resourceVersionMatch", status["message"])

    def test_a_revision_that_is_not_one(self):
        reply = self.cluster.request("GET", self.maps("?watch=1&resourceVersion=nonsense"))
        self.assertGreaterEqual(reply.status, 400)  # kube-apiserver says 500 here, though the fault is the caller's.
        self.assertIn('resourceVersion: Invalid value: "nonsense"', reply.json["message"])

    def test_a_watch_as_table(self):
        self.config_map("a")
        with self.cluster.watch(self.maps("?watch=1"), headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}) as watch:
            event = watch.next()
        self.assertEqual((event["type"], event["object"]["kind"]), ("ADDED", "Table"))
        self.assertEqual(event["object"]["rows"][0]["cells"][:2], ["a", 0])
        self.assertEqual([c["name"] for c in event["object"]["columnDefinitions"]], ["Name", "Data", "Age"])

    def test_metadata_only(self):
        self.config_map("a", {"k": "v"})
        accept = {"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}
        listed = self.api("GET", MAPS, headers=accept)
        self.assertEqual((listed["kind"], listed["apiVersion"]), ("PartialObjectMetadataList", "meta.k8s.io/v1"))
        self.assertNotIn("data", listed["items"][0])
        with self.cluster.watch(self.maps("?watch=1"), headers={"Accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}) as watch:
            event = watch.next()
        self.assertEqual((event["object"]["kind"], event["object"]["metadata"]["name"]), ("PartialObjectMetadata", "a"))

    def test_the_old_watch_path(self):
        self.config_map("a")
        with self.cluster.watch(self.path("/api/v1/watch/namespaces/{ns}/configmaps")) as watch:
            self.assertEqual(shape(watch.next()), ("ADDED", "a"))

    def test_many_watchers_see_the_same(self):
        start = self.revision()
        watchers = [self.cluster.watch(self.maps(f"?watch=1&resourceVersion={start}")) for _ in range(20)]
        for name in "abc":
            self.config_map(name)
        seen = [json.dumps([watch.next() for _ in "abc"], sort_keys=True) for watch in watchers]
        for watch in watchers:
            watch.connection.close()
        self.assertEqual(len(set(seen)), 1)


class ListTest(E2E):
    def setUp(self):
        super().setUp()
        for number in range(7):
            self.config_map(f"m{number}")

    def names(self, listed):
        return [item["metadata"]["name"] for item in listed["items"]]

    def test_pages_show_one_moment(self):
        first = self.api("GET", MAPS + "?limit=3")
        self.assertEqual((self.names(first), first["metadata"]["remainingItemCount"]), (["m0", "m1", "m2"], 4))
        self.config_map("m3x")
        self.api("DELETE", MAPS + "/m4")
        second = self.api("GET", MAPS + f"?limit=3&continue={quote(first['metadata']['continue'])}")
        self.assertEqual((self.names(second), second["metadata"]["remainingItemCount"]), (["m3", "m4", "m5"], 1))
        last = self.api("GET", MAPS + f"?limit=3&continue={quote(second['metadata']['continue'])}")
        self.assertEqual(self.names(last), ["m6"])
        self.assertNotIn("continue", last["metadata"])
        self.assertEqual({first["metadata"]["resourceVersion"]}, {second["metadata"]["resourceVersion"], last["metadata"]["resourceVersion"]})

    def test_a_wrong_continue_token_is_400(self):
        status = self.api("GET", MAPS + "?limit=3&continue=nonsense", expect=400)
        self.assertIn("continue key is not valid", status["message"])
        token = quote(self.api("GET", MAPS + "?limit=3")["metadata"]["continue"])
        status = self.api("GET", MAPS + f"?limit=3&continue={token}&resourceVersion=5", expect=400)
        self.assertIn("specifying resource version is not allowed when using continue", status["message"])

    def test_a_list_at_an_exact_revision(self):
        at = self.api("GET", MAPS)["metadata"]["resourceVersion"]
        self.api("DELETE", MAPS + "/m0")
        old = self.api("GET", MAPS + f"?resourceVersion={at}&resourceVersionMatch=Exact")
        self.assertEqual((len(old["items"]), old["metadata"]["resourceVersion"]), (7, at))
        self.assertEqual(len(self.api("GET", MAPS + f"?resourceVersion={at}&resourceVersionMatch=NotOlderThan")["items"]), 6)
        self.assertEqual(len(self.api("GET", MAPS + "?resourceVersion=0")["items"]), 6)
        status = self.api("GET", MAPS + "?resourceVersionMatch=Exact", expect=422)
        self.assertIn("resourceVersionMatch is forbidden unless resourceVersion is provided", status["message"])

    def test_a_revision_from_the_future(self):
        reply = self.cluster.request("GET", self.path(MAPS + "?resourceVersion=999999999"))
        self.assertEqual(reply.status, 504)
        status = reply.json
        self.assertIn("Too large resource version: 999999999, current:", status["message"])
        self.assertEqual(status["details"]["causes"][0]["reason"], "ResourceVersionTooLarge")

    def test_deletion_of_a_collection_by_label(self):
        self.api("PATCH", MAPS + "/m1", {"metadata": {"labels": {"a": "b"}}}, headers=MERGE)
        gone = self.api("DELETE", MAPS + "?labelSelector=a%3Db")
        self.assertEqual((gone["kind"], self.names(gone)), ("ConfigMapList", ["m1"]))
        self.assertEqual(len(self.api("GET", MAPS)["items"]), 6)


if __name__ == "__main__":
    main()
