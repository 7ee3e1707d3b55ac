// watch_load drives an API server for bench/apiserver_bench: opens watches of one namespace's ConfigMaps over a few
// HTTP/2 connections, creates ConfigMaps there and waits until every watch has told of every one. Only Go's own
// library: Go's HTTP/2 client is what controllers have.
//
//	watch_load -server https://127.0.0.1:6443 -token T -namespace fan -watchers 1000 -creates 200 -writers 8
//	watch_load ... -rate 5        creates at that pace, instead of as fast as the answers come
//
// The server's certificate is not checked: both servers are on loopback, and the same for both is what counts. The last
// line of the output is "result NAME=VALUE ...", with times in microseconds; a delay is from the sending of a create to
// the arrival of its event.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	timeMax    = 3 * time.Minute // a server that hangs ends us, not our caller's patience
	lineMax    = 1 << 16         // bytes of an event
	namePrefix = "fan-"
	nameDigits = 8
)

var (
	server      = flag.String("server", "https://127.0.0.1:6443", "the server")
	token       = flag.String("token", "", "a bearer token of somebody who may do everything")
	namespace   = flag.String("namespace", "fan", "where; it is there and empty")
	watchers    = flag.Int("watchers", 1000, "how many watch")
	connections = flag.Int("connections", 20, "that the watches share")
	creates     = flag.Int("creates", 200, "how many objects to create")
	writers     = flag.Int("writers", 8, "how many create at once")
	rate        = flag.Float64("rate", 0, "creates per second; 0: as fast as the answers come")
	size        = flag.Int("size", 1024, "bytes of a value")
)

func main() {
	flag.Parse()
	time.AfterFunc(timeMax, func() {
		fmt.Fprintln(os.Stderr, "watch_load: not done after", timeMax)
		os.Exit(1)
	})
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "watch_load:", err)
		os.Exit(1)
	}
}

func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		ForceAttemptHTTP2: true,
	}}
}

func do(client *http.Client, method, path string, body []byte) (*http.Response, error) {
	request, err := http.NewRequest(method, *server+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+*token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		response.Body.Close()
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	return response, nil
}

func run() error {
	collection := "/api/v1/namespaces/" + *namespace + "/configmaps"
	writing := newClient()
	response, err := do(writing, "GET", collection+"?limit=1", nil)
	if err != nil {
		return err
	}
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil {
		return err
	}
	response.Body.Close()

	began := time.Now()
	watches, err := openWatches(collection + "?watch=1&timeoutSeconds=600&resourceVersion=" + list.Metadata.ResourceVersion)
	if err != nil {
		return err
	}
	opened := time.Since(began)

	// Read by all that receive an event, which is after it was sent: the server's answer is what orders the two.
	sent := make([]atomic.Int64, *creates)
	delays := make([][]time.Duration, len(watches))
	failures := make(chan error, len(watches))
	var wait sync.WaitGroup
	began = time.Now()
	for i, watch := range watches {
		wait.Add(1)
		go func() {
			defer wait.Done()
			got, err := receive(watch, began, sent)
			if err != nil {
				failures <- err
			}
			delays[i] = got
		}()
	}
	create(writing, collection, began, sent)
	created := time.Since(began)
	wait.Wait()
	elapsed := time.Since(began)
	if len(failures) > 0 {
		return fmt.Errorf("%d failures, one of them: %w", len(failures), <-failures)
	}
	return report(delays, opened, created, elapsed)
}

// openWatches returns the bodies of all watches, once each has its answer's head.
func openWatches(path string) ([]io.ReadCloser, error) {
	clients := make([]*http.Client, *connections)
	watches := make([]io.ReadCloser, *watchers)
	failures := make(chan error, *connections)
	var wait sync.WaitGroup
	for c := range clients {
		clients[c] = newClient()
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := c; i < len(watches); i += len(clients) {
				response, err := do(clients[c], "GET", path, nil)
				if err != nil {
					failures <- err
					return
				}
				if response.ProtoMajor != 2 {
					failures <- fmt.Errorf("not HTTP/2 but %s", response.Proto)
					return
				}
				watches[i] = response.Body
			}
		}()
	}
	wait.Wait()
	if len(failures) > 0 {
		return nil, <-failures
	}
	return watches, nil
}

// receive reads events until each create was told of once; returns the delays.
func receive(watch io.ReadCloser, began time.Time, sent []atomic.Int64) ([]time.Duration, error) {
	defer watch.Close()
	reader := bufio.NewReaderSize(watch, lineMax)
	seen := make([]bool, len(sent))
	delays := make([]time.Duration, 0, len(sent))
	mark := []byte(`"name":"` + namePrefix)
	for len(delays) < len(sent) {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return delays, fmt.Errorf("a watch ended after %d of %d events: %w", len(delays), len(sent), err)
		}
		now := time.Since(began)
		at := bytes.Index(line, mark)
		if at < 0 || len(line) < at+len(mark)+nameDigits || !bytes.Contains(line[:min(len(line), 40)], []byte(`"ADDED"`)) {
			return delays, fmt.Errorf("not an event that is expected: %.300s", line)
		}
		number, err := strconv.Atoi(string(line[at+len(mark) : at+len(mark)+nameDigits]))
		if err != nil || number >= len(sent) || seen[number] {
			return delays, fmt.Errorf("told of a second time, or never created: %.300s", line)
		}
		seen[number] = true
		delays = append(delays, now-time.Duration(sent[number].Load()))
	}
	return delays, nil
}

func create(client *http.Client, collection string, began time.Time, sent []atomic.Int64) {
	value := strings.Repeat("Vb7q", *size/4)
	var next atomic.Int64
	var wait sync.WaitGroup
	for w := 0; w < *writers; w++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for {
				number := int(next.Add(1) - 1)
				if number >= len(sent) {
					return
				}
				if *rate > 0 {
					time.Sleep(time.Until(began.Add(time.Duration(float64(number) / *rate * float64(time.Second)))))
				}
				body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s%0*d"},"data":{"value":"%s"}}`,
					namePrefix, nameDigits, number, value)
				sent[number].Store(int64(time.Since(began)))
				response, err := do(client, "POST", collection, []byte(body))
				if err != nil {
					fmt.Fprintln(os.Stderr, "watch_load:", err) // the watches would wait for this one for ever
					os.Exit(1)
				}
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		}()
	}
	wait.Wait()
}

func report(delays [][]time.Duration, opened, created, elapsed time.Duration) error {
	var all []time.Duration
	for _, some := range delays {
		all = append(all, some...)
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	fmt.Printf("result events=%d opened=%d created=%d elapsed=%d p50=%d p99=%d max=%d\n", len(all),
		opened.Microseconds(), created.Microseconds(), elapsed.Microseconds(), all[len(all)/2].Microseconds(),
		all[len(all)*99/100].Microseconds(), all[len(all)-1].Microseconds())
	return nil
}
