;; A module whose start function never ends.
(module
  (memory (export "memory") 1)
  (func $start (loop $l (br $l)))
  (start $start)
  (func (export "echo") (result i32) (i32.const 0)))
