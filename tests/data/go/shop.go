// A shop: orders come over HTTP and a channel, three clerks pack them under a lock, a report is written.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/trace"
	"sync"
	"time"
)

type shelf struct {
	mu    sync.Mutex
	goods map[int][]byte
}

func (s *shelf) pack(order int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := 0
	for i := 0; i < 40000; i++ {
		sum += i * order % 7
	}
	s.goods[order%16] = make([]byte, 1<<18)
	time.Sleep(300 * time.Microsecond)
	return sum
}

func clerk(ctx context.Context, name string, s *shelf, orders <-chan int, packed chan<- int) {
	for order := range orders {
		trace.WithRegion(ctx, "pack", func() { packed <- s.pack(order) })
		trace.Log(ctx, "packed by", name)
	}
}

func report(s *shelf, done chan<- struct{}) {
	file, err := os.CreateTemp("", "report")
	if err == nil {
		for i := 0; i < 20; i++ {
			fmt.Fprintln(file, i)
			file.Sync()
		}
		file.Close()
		os.Remove(file.Name())
	}
	close(done)
}

func main() {
	out, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := trace.Start(out); err != nil {
		panic(err)
	}
	ctx, task := trace.NewTask(context.Background(), "day")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Millisecond)
		io.WriteString(w, "an order")
	}))
	s := &shelf{goods: map[int][]byte{}}
	orders, packed, done := make(chan int), make(chan int), make(chan struct{})
	var all sync.WaitGroup
	for _, name := range []string{"Ada", "Ben", "Cem"} {
		all.Add(1)
		go func(name string) { defer all.Done(); clerk(ctx, name, s, orders, packed) }(name)
	}
	go func() { all.Wait(); close(packed) }()
	go report(s, done)
	go func() {
		for i := 0; i < 30; i++ {
			if i%6 == 0 {
				answer, err := http.Get("http://" + listener.Addr().String())
				if err == nil {
					io.ReadAll(answer.Body)
					answer.Body.Close()
				}
			}
			orders <- i
		}
		close(orders)
	}()
	total := 0
	for open := true; open; {
		select {
		case sum, more := <-packed:
			total += sum
			open = more
		case <-time.After(50 * time.Millisecond):
			runtime.Gosched()
		}
	}
	runtime.GC()
	<-done
	task.End()
	trace.Stop()
	out.Close()
	fmt.Println(total)
}
