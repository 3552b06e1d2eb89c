"""A test of code that creates Services; with-berth.sh says where the server is."""
import unittest

from kubernetes import client, config


class ServiceTest(unittest.TestCase):
    def setUp(self):
        config.load_kube_config()  # reads KUBECONFIG
        self.api = client.CoreV1Api()

    def test_a_service_keeps_the_node_port_that_it_sets(self):
        service = {"metadata": {"name": "web"},
                   "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}]}}
        self.api.create_namespaced_service("default", service)
        stored = self.api.read_namespaced_service("web", "default")
        self.assertEqual(stored.spec.ports[0].node_port, 30080)
        with self.assertRaisesRegex(client.ApiException, "provided port is already allocated"):
            self.api.create_namespaced_service("default", {**service, "metadata": {"name": "web2"}})


if __name__ == "__main__":
    unittest.main()
