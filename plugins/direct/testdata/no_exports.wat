;; Exports nothing.
(module
  (memory 1)
)
