package main

import (
	_ "k8s.io/apimachinery/pkg/util/managedfields"
	_ "k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	_ "sigs.k8s.io/structured-merge-diff/v4/typed"
)

func main() {}
