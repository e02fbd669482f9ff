# petstore serve --control-port 3001 --key pro=my-token --plan-limits pro=2/100 --json
# python3 examples/testing/control.py http://127.0.0.1:3000/v1 http://127.0.0.1:3001/<secret> my-token
"""Tests a client against petstore serve, whose clock, faults and journal the control API steers."""
import json
import sys
import unittest
import urllib.error
import urllib.request
import uuid

base_url, control_url, api_key = sys.argv[1:4]


class Client:
    """The client under test. Replace it by your own."""

    def __init__(self, timeout=30):
        self.timeout = timeout

    def send(self, method, path, body=None, headers=()):
        """Sends a request, and returns the status of the response."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json", **dict(headers)}
        request = urllib.request.Request(base_url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:
                return response.status
        except urllib.error.HTTPError as error:
            return error.code

    def list(self):
        return self.send("GET", "/pets")

    def add(self, name):
        """Adds an animal. If no response arrives, sends the request again with the same idempotency key."""
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        pet = {"name": name, "categoryId": 1}
        try:
            return self.send("POST", "/pets", pet, headers)
        except ConnectionError:
            return self.send("POST", "/pets", pet, headers)


def control(path, body=None, method="POST"):
    """Steers the server, and returns the body of its response."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(control_url + path, data, method=method)
    with urllib.request.urlopen(request, timeout=30) as response:
        text = response.read()
        return json.loads(text) if text else None


class ClientTest(unittest.TestCase):
    def setUp(self):
        control("/reset")
        # The clock stands still, so that no minute ends within a test.
        control("/clock", {"set": "2030-01-01T00:00:00Z"})

    def test_is_served_again_in_the_next_minute(self):
        client = Client()
        self.assertEqual([client.list(), client.list(), client.list()], [200, 200, 429])
        control("/clock", {"advanceSeconds": 60})
        self.assertEqual(client.list(), 200)

    def test_recovers_after_two_failures(self):
        client = Client()
        control("/faults", {"part": "storage", "action": "fail", "calls": 2})
        self.assertEqual([client.list(), client.list()], [503, 503])
        control("/clock", {"advanceSeconds": 60})
        self.assertEqual(client.list(), 200)

    def test_adds_an_animal_once_although_the_connection_breaks(self):
        control("/faults", {"part": "connection", "action": "break", "calls": 1})
        self.assertEqual(Client().add("Tiger"), 201)
        sent = control("/requests?operation=createPet&status=201&wait=10", method="GET")["requests"]
        self.assertEqual(len({request["headers"]["idempotency-key"] for request in sent}), 1)
        self.assertEqual([request["response"]["status"] for request in sent], [201, 201])
        names = [pet["name"] for pet in control("/pets", method="GET")]
        self.assertEqual(names.count("Tiger"), 1)

    def test_gives_up_on_a_slow_server(self):
        control("/faults", {"part": "connection", "action": "delay", "milliseconds": 60_000})
        with self.assertRaises(TimeoutError):
            Client(timeout=0.5).list()


unittest.main(argv=sys.argv[:1])
