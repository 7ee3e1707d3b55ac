// etcd_load drives an etcd server for bench/store_bench: the yardstick's side of the comparison, through etcd's own
// client. Each write is what an API server does to create an object: a transaction that checks that the key is new.
//
//	etcd_load -endpoint 127.0.0.1:2379 -mode write -writers 64 -seconds 3
//	etcd_load -endpoint 127.0.0.1:2379 -mode fill  -writers 256 -keys 100000
//	etcd_load -endpoint 127.0.0.1:2379 -mode scan  -keys 100000
//
// The last line of the output is "result NAME=VALUE ...", with times in microseconds.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/grpclog"
)

const (
	connectionsMax = 8               // writers share connections, as an API server's do
	timeMax        = 5 * time.Minute // no server, or one that hangs, ends us, not our caller's patience
)

var (
	endpoint = flag.String("endpoint", "127.0.0.1:2379", "the server")
	mode     = flag.String("mode", "write", "write, fill or scan")
	prefix   = flag.String("prefix", "/bench/", "of all keys")
	writers  = flag.Int("writers", 1, "how many write at once")
	seconds  = flag.Float64("seconds", 3, "how long to write")
	keys     = flag.Int64("keys", 100000, "how many to fill or to scan")
	size     = flag.Int("size", 1024, "bytes of a value")
)

func main() {
	flag.Parse()
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	time.AfterFunc(timeMax, func() {
		fmt.Fprintln(os.Stderr, "etcd_load: not done after", timeMax)
		os.Exit(1)
	})
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "etcd_load:", err)
		os.Exit(1)
	}
}

func run() error {
	clients := make([]*clientv3.Client, min(*writers, connectionsMax))
	for i := range clients {
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{*endpoint}, DialTimeout: 10 * time.Second})
		if err != nil {
			return err
		}
		defer client.Close()
		clients[i] = client
	}
	switch *mode {
	case "write":
		return write(clients, func(_ int64, since time.Duration) bool { return since.Seconds() < *seconds })
	case "fill":
		return write(clients, func(number int64, _ time.Duration) bool { return number <= *keys })
	case "scan":
		return scan(clients[0])
	}
	return fmt.Errorf("unknown mode %q", *mode)
}

func write(clients []*clientv3.Client, goOn func(number int64, since time.Duration) bool) error {
	letters := randomLetters()
	var next atomic.Int64
	var failed atomic.Value
	var wait sync.WaitGroup
	latencies := make([][]time.Duration, *writers)
	begin := time.Now()
	for w := 0; w < *writers; w++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			random := rand.New(rand.NewSource(int64(w) + 1))
			for {
				number := next.Add(1)
				if !goOn(number, time.Since(begin)) || failed.Load() != nil {
					return
				}
				at := random.Intn(len(letters) - *size)
				key := fmt.Sprintf("%s%d/%010d", *prefix, begin.UnixNano(), number)
				if *mode == "fill" {
					key = fmt.Sprintf("%s%010d", *prefix, number)
				}
				start := time.Now()
				_, err := clients[w%len(clients)].Txn(context.Background()).
					If(clientv3.Compare(clientv3.ModRevision(key), "=", 0)).
					Then(clientv3.OpPut(key, letters[at:at+*size])).Commit()
				if err != nil {
					failed.Store(err)
					return
				}
				latencies[w] = append(latencies[w], time.Since(start))
			}
		}()
	}
	wait.Wait()
	elapsed := time.Since(begin)
	if err := failed.Load(); err != nil {
		return err.(error)
	}
	var all []time.Duration
	for _, some := range latencies {
		all = append(all, some...)
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	fmt.Printf("result writes=%d elapsed=%d p50=%d p99=%d\n", len(all), elapsed.Microseconds(),
		all[len(all)/2].Microseconds(), all[len(all)*99/100].Microseconds())
	return nil
}

// randomLetters is what values are cut out of: making each anew would cost more than storing it.
func randomLetters() string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789{}"
	random := rand.New(rand.NewSource(1))
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = letters[random.Intn(len(letters))]
	}
	return string(text)
}

func scan(client *clientv3.Client) error {
	best := time.Duration(1<<62 - 1)
	for try := 0; try < 3; try++ {
		start := time.Now()
		answer, err := client.Get(context.Background(), *prefix, clientv3.WithPrefix())
		if err != nil {
			return err
		}
		if int64(len(answer.Kvs)) != *keys {
			return fmt.Errorf("%d keys, not %d", len(answer.Kvs), *keys)
		}
		best = min(best, time.Since(start))
	}
	fmt.Printf("result elapsed=%d\n", best.Microseconds())
	return nil
}
