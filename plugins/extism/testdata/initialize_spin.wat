;; A guest whose _initialize never ends. Built by
;;   wat2wasm initialize_spin.wat -o initialize_spin.wasm
(module
  (memory (export "memory") 1)
  (func (export "_initialize") (loop $l (br $l)))
  (func (export "initialize_spin") (result i32) (i32.const 0)))
