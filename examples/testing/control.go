// petstore serve --control-port 3001 --key pro=my-token --plan-limits pro=2/100 --json
// go run examples/testing/control.go http://127.0.0.1:3000/v1 http://127.0.0.1:3001/<secret> my-token

// Tests a client against petstore serve, whose clock, faults and journal the control API steers.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"
)

// send is the client under test. Replace it by your own.
func send(client http.Client, method, path, body string, header http.Header) (int, error) {
	request, err := http.NewRequest(method, os.Args[1]+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header = header.Clone()
	request.Header.Set("Authorization", "Bearer "+os.Args[3])
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// control steers the server, and decodes its response into result, unless that is nil.
func control(method, path, body string, result any) {
	request, err := http.NewRequest(method, os.Args[2]+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		log.Fatalf("%s: %s", path, response.Status)
	}
	if result != nil {
		if err := json.NewDecoder(response.Body).Decode(result); err != nil {
			log.Fatal(err)
		}
	}
}

// expect lists the animals once for each expected status.
func expect(statuses ...int) {
	for _, expected := range statuses {
		if status, err := send(http.Client{}, "GET", "/pets", "", http.Header{}); err != nil || status != expected {
			log.Fatalf("expected %d, got %d %v", expected, status, err)
		}
	}
}

// start resets the server. The clock stands still, so that no minute ends within a test.
func start() {
	control("POST", "/reset", "", nil)
	control("POST", "/clock", `{"set": "2030-01-01T00:00:00Z"}`, nil)
}

func isServedAgainInTheNextMinute() {
	expect(200, 200, 429)
	control("POST", "/clock", `{"advanceSeconds": 60}`, nil)
	expect(200)
}

func recoversAfterTwoFailures() {
	control("POST", "/faults", `{"part": "storage", "action": "fail", "calls": 2}`, nil)
	expect(503, 503)
	control("POST", "/clock", `{"advanceSeconds": 60}`, nil)
	expect(200)
}

func addsAnAnimalOnceAlthoughTheConnectionBreaks() {
	control("POST", "/faults", `{"part": "connection", "action": "break", "calls": 1}`, nil)
	// Go itself repeats a request with an idempotency key once if a connection that it has used before breaks.
	header := http.Header{"Idempotency-Key": {"order-1"}}
	pet := `{"name": "Tiger", "categoryId": 1}`
	status, err := send(http.Client{}, "POST", "/pets", pet, header)
	if err != nil {
		status, err = send(http.Client{}, "POST", "/pets", pet, header)
	}
	if err != nil || status != 201 {
		log.Fatalf("expected 201, got %d %v", status, err)
	}
	var journal struct {
		Requests []struct{ Headers map[string]string }
	}
	control("GET", "/requests?operation=createPet&status=201&wait=10", "", &journal)
	var keys []string
	for _, request := range journal.Requests {
		keys = append(keys, request.Headers["idempotency-key"])
	}
	if !reflect.DeepEqual(keys, []string{"order-1", "order-1"}) {
		log.Fatalf("expected two requests with the same idempotency key, got %v", keys)
	}
	var pets []struct{ Name string }
	control("GET", "/pets", "", &pets)
	if len(pets) != 9 {
		log.Fatalf("expected 9 animals, got %v", pets)
	}
}

func givesUpOnASlowServer() {
	control("POST", "/faults", `{"part": "connection", "action": "delay", "milliseconds": 60000}`, nil)
	status, err := send(http.Client{Timeout: 500 * time.Millisecond}, "GET", "/pets", "", http.Header{})
	if !os.IsTimeout(err) {
		log.Fatalf("expected a timeout, got %d %v", status, err)
	}
}

func main() {
	tests := []func(){
		isServedAgainInTheNextMinute,
		recoversAfterTwoFailures,
		addsAnAnimalOnceAlthoughTheConnectionBreaks,
		givesUpOnASlowServer,
	}
	for _, test := range tests {
		start()
		test()
	}
	fmt.Println("OK")
}
