module baton/bench/watch_load

go 1.22
