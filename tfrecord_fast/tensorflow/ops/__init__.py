"""The functions on tensors that pipelines use, over NumPy: small, and compared with TensorFlow's one by one.

- `arguments`, `rows`: conversion of arguments to arrays; RaggedTensors joined and stacked
- `filled`, `arrays`, `picked`: tensors made of numbers and shapes; their shape and order; values chosen or put in place
- `math`, `randoms`, `strings`, `expressions`: arithmetic, random numbers, byte strings, regular expressions
- `pictures`, `encoded`, `composites`: images; JPEG and WAV files and messages; SparseTensors and RaggedTensors
- `control`, `mapping`, `checks`: functions that call functions, and functions that raise
"""
