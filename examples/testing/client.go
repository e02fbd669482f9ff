// go run examples/testing/client.go http://127.0.0.1:3000/v1 <API_KEY>

// Adds an animal, lists all animals, and waits after a 429 as long as Retry-After says.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"time"
)

type pet struct {
	ID         int64  `json:"id,omitempty"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status,omitempty"`
}

var apiKey string

// call sends a request and reads the JSON of its response into result.
func call(method, address string, body []byte, result any) (http.Header, error) {
	for {
		request, err := http.NewRequest(method, address, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+apiKey)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, err
		}
		wait, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		// A ban lasts 300 seconds: longer than this program waits.
		if response.StatusCode == http.StatusTooManyRequests && wait <= 60 {
			response.Body.Close()
			time.Sleep(time.Duration(wait) * time.Second)
			continue
		}
		defer response.Body.Close()
		if response.StatusCode >= 300 {
			return nil, fmt.Errorf("%s %s: %s", method, address, response.Status)
		}
		return response.Header, json.NewDecoder(response.Body).Decode(result)
	}
}

var next = regexp.MustCompile(`<([^>]*)>; rel="next"`)

func run(baseURL string) error {
	body, err := json.Marshal(pet{Name: "Rex", CategoryID: 9007199254740993})
	if err != nil {
		return err
	}
	if _, err := call(http.MethodPost, baseURL+"/pets", body, &pet{}); err != nil {
		return err
	}
	address, err := url.Parse(baseURL + "/pets?limit=1")
	if err != nil {
		return err
	}
	for {
		var page []pet
		header, err := call(http.MethodGet, address.String(), nil, &page)
		if err != nil {
			return err
		}
		for _, animal := range page {
			fmt.Println(animal.Name, animal.CategoryID)
		}
		link := next.FindStringSubmatch(header.Get("Link"))
		if link == nil {
			return nil
		}
		// A Link may be relative, so it is resolved against the address of its page.
		if address, err = address.Parse(link[1]); err != nil {
			return err
		}
	}
}

func main() {
	apiKey = os.Args[2]
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}
