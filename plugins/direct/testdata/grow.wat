;; Grows its memory page by page until that is refused and answers with one "x"
;; for each page it has.
(module
  (memory (export "memory") 1)
  (data (i32.const 64) "\01\00\00\003\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22part\22:0}]}]}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64)
    (block $full (loop $again (br_if $full (i32.eq (memory.grow (i32.const 1)) (i32.const -1))) (br $again)))
    (i32.store (i32.const 123) (i32.const 2))
    (i32.store (i32.const 127) (memory.size))
    (memory.fill (i32.const 131) (i32.const 120) (memory.size))
    (i64.or (i64.const 274877906944) (i64.extend_i32_u (i32.add (memory.size) (i32.const 67)))))
)
