# python3 examples/testing/client.py http://127.0.0.1:3000/v1 <API_KEY>
"""Adds an animal, lists all animals, and waits after a 429 as long as Retry-After says."""
import json
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

base_url, api_key = sys.argv[1:3]


def call(url, pet=None):
    """Sends a request; pet is the animal to add, if any. Returns the response's JSON and headers."""
    headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
    body = None if pet is None else json.dumps(pet).encode()
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=30) as response:
                return json.load(response), response.headers
        except urllib.error.HTTPError as error:
            wait = int(error.headers.get("Retry-After", "0"))
            # A ban lasts 300 seconds: longer than this program waits.
            if error.code != 429 or wait > 60:
                raise
            time.sleep(wait)


def pets(url):
    """Iterates over all animals. A Link may be relative, so it is resolved against the address of its page."""
    while url:
        page, headers = call(url)
        yield from page
        link = re.search(r'<([^>]*)>; rel="next"', headers.get("Link") or "")
        url = link and urllib.parse.urljoin(url, link[1])


call(f"{base_url}/pets", {"name": "Rex", "categoryId": 9007199254740993})
for pet in pets(f"{base_url}/pets?limit=1"):
    print(pet["name"], pet["categoryId"])
