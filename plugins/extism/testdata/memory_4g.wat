;; A module that wants 4 GiB to start with.
(module
  (memory (export "memory") 65536)
  (func (export "echo") (result i32) (i32.const 0)))
