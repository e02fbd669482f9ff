// petstore serve --control-port 3001 --key pro=my-token --plan-limits pro=2/100 --json
// go run examples/testing/control.go http://127.0.0.1:3000/v1 http://127.0.0.1:3001/<secret> my-token

// Steers petstore serve: moves its clock past a 429, and makes its storage fail twice.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

// control steers the server.
func control(path, body string) {
	response, err := http.Post(os.Args[2]+path, "application/json", strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		log.Fatalf("%s: %s", path, response.Status)
	}
}

// expect lists the animals once for each expected status.
func expect(statuses ...int) {
	for _, status := range statuses {
		request, err := http.NewRequest(http.MethodGet, os.Args[1]+"/pets", nil)
		if err != nil {
			log.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+os.Args[3])
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != status {
			log.Fatalf("expected %d, got %s", status, response.Status)
		}
	}
}

// start resets the server. The clock stands still, so that no minute ends within a test.
func start() {
	control("/reset", "")
	control("/clock", `{"set": "2030-01-01T00:00:00Z"}`)
}

func main() {
	start()
	expect(200, 200, 429)
	control("/clock", `{"advanceSeconds": 60}`)
	expect(200)

	start()
	control("/faults", `{"part": "storage", "action": "fail", "calls": 2}`)
	expect(503, 503)
	control("/clock", `{"advanceSeconds": 60}`)
	expect(200)
	fmt.Println("OK")
}
