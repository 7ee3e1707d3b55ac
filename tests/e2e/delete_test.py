"""Deletion: finalizers, cascades, collections, preconditions, grace, and the life of a namespace."""
import secrets

from harness import E2E, TIMEOUT, embedded_only, main, setUpModule, tearDownModule  # noqa: F401  pylint: disable=unused-import

MAPS = "/api/v1/namespaces/{ns}/configmaps"


class DeleteTest(E2E):
    def owned(self, name, owner, **more):
        """A config map that belongs to another."""
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], **more}
        return self.config_map(name, ownerReferences=[reference])

    def gone(self, name):
        return self.poll(lambda: self.cluster.request("GET", self.path(f"{MAPS}/{name}")).status == 404, f"the end of {name}")

    def test_by_name_by_file_by_label_and_all(self):
        for name in "abcd":
            self.config_map(name, labels={"half": "first" if name < "c" else "second"})
        self.assertEqual(self.kubectl("delete", "cm", "a"), 'configmap "a" deleted\n')
        self.assertEqual(self.kubectl("get", "cm", "-o", "name").split(), ["configmap/b", "configmap/c", "configmap/d"])
        self.kubectl("delete", "cm", "-l", "half=second")
        self.assertEqual(self.kubectl("get", "cm", "-o", "name").split(), ["configmap/b"])
        self.kubectl("delete", "cm", "--all")
        self.assertEqual(self.kubectl("get", "cm", "-o", "name"), "")
        self.assertIn('configmaps "a" not found', self.kubectl_fails("delete", "cm", "a"))
        self.assertEqual(self.kubectl("delete", "cm", "a", "--ignore-not-found"), "")

    def test_the_answer_is_a_status_with_the_uid(self):
        made = self.config_map("a")
        status = self.api("DELETE", MAPS + "/a")
        self.assertEqual((status["kind"], status["status"]), ("Status", "Success"))
        self.assertEqual(status["details"], {"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]})

    def test_a_finalizer_holds_the_object_until_it_is_taken_off(self):
        self.config_map("a", finalizers=["example.com/hold"])
        answered = self.api("DELETE", MAPS + "/a")
        self.assertEqual(answered["kind"], "ConfigMap")
        held = self.kubectl_json("get", "cm", "a")["metadata"]
        self.assertIn("deletionTimestamp", held)
        self.assertEqual(held["deletionGracePeriodSeconds"], 0)
        again = self.api("DELETE", MAPS + "/a")
        self.assertEqual(again["metadata"]["deletionTimestamp"], held["deletionTimestamp"])
        status = self.api("PATCH", MAPS + "/a", {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}}, expect=422,
                          headers={"Content-Type": "application/merge-patch+json"})
        self.assertIn("metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted", status["message"])
        waiting = self.background("wait", "cm/a", "--for=delete", TIMEOUT)
        self.kubectl("patch", "cm", "a", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        self.assertEqual((waiting.wait(), waiting.communicate()[1]), (0, ""))
        self.assertIn("NotFound", self.kubectl_fails("get", "cm", "a"))

    def test_preconditions(self):
        made = self.config_map("a")["metadata"]
        status = self.api("DELETE", MAPS + "/a", {"preconditions": {"uid": "11111111-1111-1111-1111-111111111111"}}, expect=409)
        self.assertEqual(status["message"], 'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition '
                         f'(11111111-1111-1111-1111-111111111111) does not match the UID in record ({made["uid"]}). '
                         "The object might have been deleted and then recreated")
        status = self.api("DELETE", MAPS + "/a", {"preconditions": {"resourceVersion": "1"}}, expect=409)
        self.assertEqual(status["message"], 'Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (1) '
                         f'does not match the ResourceVersion in record ({made["resourceVersion"]}). The object might have been modified')
        self.api("DELETE", MAPS + "/a", {"preconditions": {"uid": made["uid"], "resourceVersion": made["resourceVersion"]}})

    def test_dry_run_deletes_nothing(self):
        self.config_map("a")
        self.assertIn("(server dry run)", self.kubectl("delete", "cm", "a", "--dry-run=server"))
        self.api("DELETE", MAPS + "?dryRun=All")
        self.assertEqual(self.kubectl("get", "cm", "-o", "name"), "configmap/a\n")

    def test_options_that_contradict(self):
        self.config_map("a")
        status = self.api("DELETE", MAPS + "/a", {"orphanDependents": True, "propagationPolicy": "Foreground"}, expect=422)
        self.assertIn("orphanDependents and deletionPropagation cannot be both set", status["message"])
        status = self.api("DELETE", MAPS + "/a", {"propagationPolicy": "Sometimes"}, expect=422)
        self.assertIn('propagationPolicy: Unsupported value: "Sometimes"', status["message"])

    def test_foreground_and_orphan_leave_their_finalizer(self):
        for policy, finalizer in (("Foreground", "foregroundDeletion"), ("Orphan", "orphan")):
            self.config_map(policy.lower(), finalizers=["example.com/hold"])
            answered = self.api("DELETE", f"{MAPS}/{policy.lower()}", {"propagationPolicy": policy})
            self.assertEqual(sorted(answered["metadata"]["finalizers"]), sorted(["example.com/hold", finalizer]))

    @embedded_only
    def test_cascade_background(self):
        owner = self.config_map("owner")
        child = self.owned("child", owner)
        self.owned("grandchild", child)
        self.config_map("bystander")
        self.kubectl("delete", "cm", "owner", "--cascade=background")
        self.gone("child")
        self.gone("grandchild")
        self.assertEqual(self.kubectl("get", "cm", "bystander", "-o", "name"), "configmap/bystander\n")

    @embedded_only
    def test_cascade_foreground_waits_for_the_dependents(self):
        owner = self.config_map("owner")
        child = self.owned("child", owner, blockOwnerDeletion=True)
        self.api("PATCH", MAPS + "/child", {"metadata": {"finalizers": ["example.com/hold"]}},
                 headers={"Content-Type": "application/merge-patch+json"})
        self.kubectl("delete", "cm", "owner", "--cascade=foreground", "--wait=false")
        self.poll(lambda: "deletionTimestamp" in self.kubectl_json("get", "cm", "child")["metadata"], "the deletion of the child")
        self.assertEqual(self.kubectl_json("get", "cm", "owner")["metadata"]["finalizers"], ["foregroundDeletion"])
        self.assertEqual(self.kubectl_json("get", "cm", "child")["metadata"]["uid"], child["metadata"]["uid"])
        self.kubectl("patch", "cm", "child", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        self.gone("child")
        self.gone("owner")

    @embedded_only
    def test_cascade_orphan_takes_the_reference_off(self):
        self.owned("child", self.config_map("owner"))
        self.kubectl("delete", "cm", "owner", "--cascade=orphan")
        self.gone("owner")
        self.assertNotIn("ownerReferences", self.kubectl_json("get", "cm", "child")["metadata"])

    @embedded_only
    def test_an_object_whose_owner_never_was_is_collected_and_one_with_a_second_owner_stays(self):
        owner, other = self.config_map("owner"), self.config_map("other")
        references = [{"apiVersion": "v1", "kind": "ConfigMap", "name": o["metadata"]["name"], "uid": o["metadata"]["uid"]} for o in (owner, other)]
        self.config_map("shared", ownerReferences=references)
        self.config_map("lost", ownerReferences=[{**references[0], "name": "never", "uid": "22222222-2222-2222-2222-222222222222"}])
        self.gone("lost")
        self.kubectl("delete", "cm", "owner")
        left = self.poll(lambda: len(self.kubectl_json("get", "cm", "shared")["metadata"]["ownerReferences"]) == 1 and
                         self.kubectl_json("get", "cm", "shared")["metadata"]["ownerReferences"], "one reference to be taken off")
        self.assertEqual(left[0]["uid"], other["metadata"]["uid"])


class NamespaceTest(E2E):
    def test_a_new_namespace_has_its_label_finalizer_and_phase(self):
        found = self.api("GET", "/api/v1/namespaces/{ns}")
        self.assertEqual(found["metadata"]["labels"], {"kubernetes.io/metadata.name": self.ns})
        self.assertEqual((found["spec"], found["status"]), ({"finalizers": ["kubernetes"]}, {"phase": "Active"}))

    def test_what_cannot_be_deleted_or_made(self):
        self.assertIn('namespaces "default" is forbidden: this namespace may not be deleted', self.kubectl_fails("delete", "ns", "default"))
        status = self.api("POST", "/api/v1/namespaces", {"metadata": {"name": "with.dot"}}, expect=422)
        self.assertIn('metadata.name: Invalid value: "with.dot": must not contain dots', status["message"])
        status = self.api("POST", "/api/v1/namespaces/none-such/configmaps", {"metadata": {"name": "a"}}, expect=404)
        self.assertEqual(status["message"], 'namespaces "none-such" not found')

    def test_namespaces_are_not_deleted_all_at_once(self):
        status = self.api("DELETE", "/api/v1/namespaces?labelSelector=kubernetes.io/metadata.name%3D{ns}", expect=405)
        self.assertEqual(status["reason"], "MethodNotAllowed")
        self.assertEqual(self.api("GET", "/api/v1/namespaces/{ns}")["status"]["phase"], "Active")

    def test_its_own_finalizers_and_phase_are_checked(self):
        status = self.api("POST", "/api/v1/namespaces", {"metadata": {"name": f"x-{self.ns}"}, "spec": {"finalizers": ["a"]}}, expect=422)
        self.assertIn('spec.finalizers: Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified', status["message"])
        status = self.api("PATCH", "/api/v1/namespaces/{ns}/status", {"status": {"phase": "Terminating"}}, expect=422,
                          headers={"Content-Type": "application/merge-patch+json"})
        self.assertIn("may only be 'Active' if `deletionTimestamp` is empty", status["message"])

    def test_a_terminating_namespace_takes_nothing_new(self):
        name = f"end-{secrets.token_hex(4)}"
        self.api("POST", "/api/v1/namespaces", {"metadata": {"name": name, "finalizers": ["example.com/hold"]}}, expect=201)
        answered = self.api("DELETE", f"/api/v1/namespaces/{name}")
        self.assertEqual((answered["kind"], answered["status"]["phase"]), ("Namespace", "Terminating"))
        status = self.api("POST", f"/api/v1/namespaces/{name}/configmaps", {"metadata": {"name": "late"}}, expect=403)
        self.assertEqual(status["message"], f'configmaps "late" is forbidden: unable to create new content in namespace {name} '
                                            "because it is being terminated")
        self.assertEqual(status["details"]["causes"][0]["reason"], "NamespaceTerminating")
        self.api("PATCH", f"/api/v1/namespaces/{name}", {"metadata": {"finalizers": None}},
                 headers={"Content-Type": "application/merge-patch+json"})

    @embedded_only
    def test_deletion_empties_it_and_then_it_is_gone(self):
        self.config_map("a")
        self.kubectl("create", "-f", "-", stdin="apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n")
        self.assertEqual(self.kubectl("delete", "ns", self.ns), f'namespace "{self.ns}" deleted\n')
        self.assertIn("NotFound", self.kubectl_fails("get", "ns", self.ns))
        self.assertEqual(self.api("GET", MAPS)["items"], [])

    @embedded_only
    def test_held_content_is_told_in_its_conditions(self):
        self.config_map("held", finalizers=["example.com/hold"])
        self.kubectl("delete", "ns", self.ns, "--wait=false")
        self.kubectl("wait", f"ns/{self.ns}", "--for=condition=NamespaceFinalizersRemaining=True", TIMEOUT)
        conditions = {c["type"]: c for c in self.api("GET", "/api/v1/namespaces/{ns}")["status"]["conditions"]}
        self.assertEqual(conditions["NamespaceFinalizersRemaining"]["message"],
                         "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances")
        self.kubectl("patch", "cm", "held", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        self.kubectl("wait", f"ns/{self.ns}", "--for=delete", TIMEOUT)


if __name__ == "__main__":
    main()
