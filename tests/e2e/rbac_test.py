"""Who may do what: users by certificate, token and service account, roles and bindings, impersonation, reviews, escalation."""
import base64
import json
import secrets

from harness import (E2E, TOKEN, TOKEN_USER, client_certificate, embedded_only, main, setUpModule, tearDownModule)  # noqa: F401  pylint: disable=unused-import


class RbacCase(E2E):
    def setUp(self):
        super().setUp()
        self.user = f"user-{secrets.token_hex(4)}"
        self.limited = self.cluster.as_user(certificate=client_certificate(self.user, "team-x"))

    def role(self, rules, subjects=None, name="r"):
        rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{self.ns}"
        self.api("POST", rbac + "/roles", {"metadata": {"name": name}, "rules": rules}, expect=201)
        self.api("POST", rbac + "/rolebindings", {
            "metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
            "subjects": subjects or [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": self.user}]}, expect=201)

    def allowed(self, *arguments, who=None, stdin=None):
        done = (who or self.limited).run("-n", self.ns, *arguments, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def forbidden(self, *arguments, who=None, stdin=None):
        done = (who or self.limited).run("-n", self.ns, *arguments, stdin=stdin)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("Error from server (Forbidden)", done.stderr)
        return done.stderr

    def until_allowed(self, *arguments, who=None):
        self.poll(lambda: (who or self.limited).run("-n", self.ns, *arguments).returncode == 0, f"leave to {arguments}")


class LimitedUserTest(RbacCase):
    def test_without_a_role_nothing_but_discovery(self):
        self.assertIn(f'configmaps is forbidden: User "{self.user}" cannot list resource "configmaps" in API group "" in the namespace "{self.ns}"',
                      self.forbidden("get", "cm"))
        self.assertIn(f'deployments.apps "d" is forbidden: User "{self.user}" cannot get resource "deployments" in API group "apps" '
                      f'in the namespace "{self.ns}"', self.forbidden("get", "deploy", "d"))
        self.assertIn(f'nodes is forbidden: User "{self.user}" cannot list resource "nodes" in API group "" at the cluster scope',
                      self.forbidden("get", "nodes"))
        self.assertIn("configmaps", self.allowed("api-resources"))
        self.assertIn('"major"', self.allowed("get", "--raw", "/version"))
        self.assertIn(f'User "{self.user}" cannot get path "/metrics"', self.forbidden("get", "--raw", "/metrics"))

    def test_the_verbs_of_a_role_and_no_more(self):
        self.role([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "create"]}])
        self.until_allowed("get", "cm")
        self.allowed("create", "-f", "-", stdin="apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
        self.assertEqual(self.allowed("get", "cm", "a", "-o", "name"), "configmap/a\n")
        self.assertIn('cannot delete resource "configmaps"', self.forbidden("delete", "cm", "a"))
        self.assertIn('cannot patch resource "configmaps"', self.forbidden("label", "cm", "a", "x=y"))
        self.assertIn('cannot list resource "secrets"', self.forbidden("get", "secrets"))
        done = self.limited.run("get", "cm", "-A")
        self.assertIn('cannot list resource "configmaps" in API group "" at the cluster scope', done.stderr)
        self.assertEqual(self.kubectl("get", "cm", "-o", "name"), "configmap/a\n")

    def test_resource_names_and_subresources(self):
        self.role([{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["mine"], "verbs": ["get", "update", "patch"]},
                   {"apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": ["get", "patch", "update"]}])
        self.config_map("mine")
        self.config_map("other")
        self.until_allowed("get", "cm", "mine")
        self.allowed("label", "cm", "mine", "x=y")
        self.forbidden("get", "cm", "other")
        self.forbidden("get", "cm")
        path = f"/apis/apps/v1/namespaces/{self.ns}/deployments/d"
        self.assertIn("NotFound", self.limited.run("get", "--raw", path + "/scale").stderr)
        self.assertIn("Forbidden", self.limited.run("get", "--raw", path + "/status").stderr)

    @embedded_only  # The rules of `view` are put together by a controller.
    def test_a_group_and_a_cluster_role_bound_in_one_namespace(self):
        self.api("POST", f"/apis/rbac.authorization.k8s.io/v1/namespaces/{self.ns}/rolebindings", {
            "metadata": {"name": "v"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
            "subjects": [{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "team-x"}]}, expect=201)
        self.until_allowed("get", "cm")
        self.forbidden("get", "secrets")
        done = self.limited.run("-n", "default", "get", "cm")
        self.assertIn("Forbidden", done.stderr)

    def test_leave_is_taken_back(self):
        self.role([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}])
        self.until_allowed("get", "cm")
        self.kubectl("delete", "rolebinding", "r")
        self.poll(lambda: self.limited.run("-n", self.ns, "get", "cm").returncode == 1, "leave to be taken back")


class AuthenticationTest(RbacCase):
    def test_who_am_i(self):
        def who(user):
            return json.loads(self.allowed("auth", "whoami", "-o", "json", who=user))["status"]["userInfo"]
        certificate = who(self.limited)
        self.assertEqual((certificate["username"], certificate["groups"]), (self.user, ["team-x", "system:authenticated"]))
        token = who(self.cluster.as_user(token=TOKEN))
        self.assertEqual((token["username"], token["uid"], token["groups"]), (TOKEN_USER, "u-1", ["team-a", "team-b", "system:authenticated"]))

    def test_service_account_tokens(self):
        self.api("POST", "/api/v1/namespaces/{ns}/serviceaccounts", {"metadata": {"name": "robot"}}, expect=201)
        token = self.kubectl("create", "token", "robot", "--duration=30m").strip()
        claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
        self.assertEqual(claims["sub"], f"system:serviceaccount:{self.ns}:robot")
        self.assertEqual(claims["exp"] - claims["iat"], 1800)
        self.assertEqual(claims["kubernetes.io"]["namespace"], self.ns)
        robot = self.cluster.as_user(token=token)
        self.assertIn(f'User "system:serviceaccount:{self.ns}:robot" cannot list resource "configmaps"', self.forbidden("get", "cm", who=robot))
        self.role([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}],
                  subjects=[{"kind": "ServiceAccount", "name": "robot", "namespace": self.ns}])
        self.until_allowed("get", "cm", who=robot)
        self.assertEqual(json.loads(self.allowed("auth", "whoami", "-o", "json", who=robot))["status"]["userInfo"]["groups"],
                         ["system:serviceaccounts", f"system:serviceaccounts:{self.ns}", "system:authenticated"])
        self.kubectl("delete", "sa", "robot")
        self.poll(lambda: self.cluster.request("GET", "/api", token=token).status == 401, "the token to die with its account")

    def test_token_requests_that_are_refused(self):
        self.assertIn('serviceaccounts "none" not found', self.kubectl_fails("create", "token", "none"))
        self.api("POST", "/api/v1/namespaces/{ns}/serviceaccounts", {"metadata": {"name": "robot"}}, expect=201)
        status = self.api("POST", "/api/v1/namespaces/{ns}/serviceaccounts/robot/token", {"spec": {"expirationSeconds": 10}}, expect=422)
        self.assertIn("spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes", status["message"])

    def test_tokens_bound_to_an_object(self):
        self.api("POST", "/api/v1/namespaces/{ns}/serviceaccounts", {"metadata": {"name": "robot"}}, expect=201)
        path = "/api/v1/namespaces/{ns}/serviceaccounts/robot/token"
        bound = {"spec": {"boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": "s"}}}
        self.assertEqual(self.api("POST", path, bound, expect=404)["message"], 'secrets "s" not found')
        self.api("POST", "/api/v1/namespaces/{ns}/secrets", {"metadata": {"name": "s"}}, expect=201)
        token = self.api("POST", path, bound, expect=201)["status"]["token"]
        self.assertEqual(self.cluster.request("GET", "/version", token=token).status, 200)
        self.api("DELETE", "/api/v1/namespaces/{ns}/secrets/s")
        self.poll(lambda: self.cluster.request("GET", "/version", token=token).status == 401, "the token to die with its secret")
        status = self.api("POST", path, {"spec": {"expirationSeconds": 1 << 33}}, expect=422)
        self.assertIn("may not specify a duration larger than 2^32 seconds", status["message"])

    def test_a_token_for_others_is_not_for_the_server(self):
        self.api("POST", "/api/v1/namespaces/{ns}/serviceaccounts", {"metadata": {"name": "robot"}}, expect=201)
        token = self.api("POST", "/api/v1/namespaces/{ns}/serviceaccounts/robot/token", {"spec": {"audiences": ["others"]}}, expect=201)["status"]["token"]
        self.assertEqual(self.cluster.request("GET", "/version", token=token).status, 401)
        review = self.api("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": token, "audiences": ["others"]}}, expect=201)
        self.assertEqual((review["status"].get("authenticated"), review["status"].get("audiences")), (True, ["others"]))

    def test_reviews_that_are_incomplete(self):
        authorization = "/apis/authorization.k8s.io/v1"
        status = self.api("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {}}, expect=400)
        self.assertEqual(status["message"], "token is required for TokenReview in authentication")
        status = self.api("POST", authorization + "/subjectaccessreviews", {"spec": {}}, expect=422)
        self.assertIn("spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified", status["message"])
        self.assertIn('spec.user: Invalid value: "": at least one of user or group must be specified', status["message"])
        status = self.api("POST", authorization + "/namespaces/{ns}/localsubjectaccessreviews", {"spec": {
            "user": "u", "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "other"}}}, expect=422)
        self.assertIn('spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace', status["message"])
        self.assertEqual(self.api("POST", authorization + "/selfsubjectrulesreviews", {"spec": {}}, expect=400)["message"], "no namespace on request")

    def test_token_review(self):
        review = lambda token: self.api("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {  # noqa: E731
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}, expect=201)["status"]
        good = review(TOKEN)
        self.assertEqual((good["authenticated"], good["user"]["username"]), (True, TOKEN_USER))
        self.assertNotIn("authenticated", review("nonsense"))

    def test_wrong_credentials_are_401(self):
        for token in ("nonsense", "a.b.c", "", "x" * 5000):
            reply = self.cluster.request("GET", "/api/v1/namespaces", token=token)
            if token:
                self.assertEqual((reply.status, reply.json["message"], reply.json["reason"]), (401, "Unauthorized", "Unauthorized"), token)
            else:
                self.assertIn(reply.status, (401, 403))
        reply = self.cluster.request("GET", "/api/v1/namespaces", headers={"Authorization": "Basic YTpi"}, certificate=None)
        self.assertIn(reply.status, (401, 403))


class CanITest(RbacCase):
    def test_can_i(self):
        self.assertEqual(self.kubectl("auth", "can-i", "create", "pods").strip(), "yes")
        done = self.limited.run("-n", self.ns, "auth", "can-i", "create", "pods")
        self.assertEqual((done.returncode, done.stdout.strip()), (1, "no"))
        self.role([{"apiGroups": ["apps"], "resources": ["deployments", "deployments/scale"], "verbs": ["get", "update"]},
                   {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["one"], "verbs": ["*"]}])
        self.until_allowed("auth", "can-i", "update", "deployments.apps/x")
        self.allowed("auth", "can-i", "get", "deployments", "--subresource=scale")
        self.allowed("auth", "can-i", "delete", "configmaps/one")
        self.assertEqual(self.limited.run("-n", self.ns, "auth", "can-i", "delete", "configmaps/two").stdout.strip(), "no")

    def test_list(self):
        self.role([{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "update"]}])
        self.until_allowed("auth", "can-i", "update", "deployments.apps")
        rows = self.allowed("auth", "can-i", "--list").splitlines()
        self.assertEqual(rows[0].split(), ["Resources", "Non-Resource", "URLs", "Resource", "Names", "Verbs"])
        self.assertTrue(any(row.split()[0] == "deployments.apps" and row.endswith("[get update]") for row in rows[1:]), rows)
        self.assertTrue(any("/healthz" in row and row.endswith("[get]") for row in rows[1:]), rows)

    def test_impersonation(self):
        self.role([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}])
        self.until_allowed("get", "cm")
        self.assertEqual(self.kubectl("auth", "can-i", "list", "cm", "--as", self.user).strip(), "yes")
        self.assertEqual(self.kubectl_fails("auth", "can-i", "list", "secrets", "--as", self.user), "")
        self.assertIn(f'User "{self.user}" cannot list resource "secrets"', self.kubectl_fails("get", "secrets", "--as", self.user, "--as-group=team-x"))
        self.assertIn(f'users "other" is forbidden: User "{self.user}" cannot impersonate resource "users" in API group "" at the cluster scope',
                      self.forbidden("get", "cm", "--as", "other"))


class EscalationTest(RbacCase):
    def test_nobody_gives_more_than_he_has(self):
        self.role([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "rolebindings"],
                    "verbs": ["get", "list", "create", "update", "patch"]},
                   {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}])
        self.until_allowed("get", "roles")
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "more"},
                "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]}
        error = self.forbidden("create", "-f", "-", stdin=json.dumps(role))
        self.assertIn(f'user "{self.user}" (groups=["team-x" "system:authenticated"]) is attempting to grant RBAC permissions not currently held', error)
        self.assertIn('{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}', error)
        role["rules"][0]["resources"] = ["configmaps"]
        self.allowed("create", "-f", "-", stdin=json.dumps(role))
        binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "b"},
                   "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
                   "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": self.user}]}
        self.assertIn("is attempting to grant RBAC permissions not currently held", self.forbidden("create", "-f", "-", stdin=json.dumps(binding)))

    def test_the_role_of_a_binding_cannot_be_changed(self):
        self.role([])
        self.assertIn("cannot change roleRef", self.kubectl_fails("patch", "rolebinding", "r", "--type=merge", "-p", '{"roleRef":{"name":"other"}}'))


if __name__ == "__main__":
    main()
