;; A guest whose _initialize never ends. Built by
;;   wat2wasm init_loop.wat -o init_loop.wasm
(module
  (memory (export "memory") 1)
  (func (export "_initialize") (loop $l (br $l)))
  (func (export "echo") (result i32) (i32.const 0)))
