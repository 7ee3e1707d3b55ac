// A real etcd, built from the module registry: a current kube-apiserver needs a newer one than Debian 12 has.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
