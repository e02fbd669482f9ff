# petstore serve --control-port 3001 --key pro=my-token --plan-limits pro=2/100 --json
# python3 examples/testing/control.py http://127.0.0.1:3000/v1 http://127.0.0.1:3001/<secret> my-token
"""Tests a client against petstore serve: moves its clock past a 429, and makes its storage fail twice."""
import json
import sys
import unittest
import urllib.error
import urllib.request

base_url, control_url, api_key = sys.argv[1:4]


def control(path, body=None):
    """Steers the server."""
    data = b"" if body is None else json.dumps(body).encode()
    urllib.request.urlopen(urllib.request.Request(control_url + path, data), timeout=30).close()


def status():
    """Lists the animals, and returns the status of the response."""
    request = urllib.request.Request(f"{base_url}/pets", headers={"Authorization": f"Bearer {api_key}"})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


class ClientTest(unittest.TestCase):
    def setUp(self):
        control("/reset")
        # The clock stands still, so that no minute ends within a test.
        control("/clock", {"set": "2030-01-01T00:00:00Z"})

    def test_is_served_again_in_the_next_minute(self):
        self.assertEqual([status(), status(), status()], [200, 200, 429])
        control("/clock", {"advanceSeconds": 60})
        self.assertEqual(status(), 200)

    def test_recovers_after_two_failures(self):
        control("/faults", {"part": "storage", "action": "fail", "calls": 2})
        self.assertEqual([status(), status()], [503, 503])
        control("/clock", {"advanceSeconds": 60})
        self.assertEqual(status(), 200)


unittest.main(argv=sys.argv[:1])
