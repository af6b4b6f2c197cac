(* An OCaml program that waits in C below a recursion, a closure of List.iter and an exception's handler. *)
exception Deep of int

let rec recursion n =
  if n = 0 then raise (Deep 3) else 1 + recursion (n - 1)

let wait n =
  if n = 5 then begin
    print_endline "ready";
    Unix.sleep 100000
  end

let rec waiting n =
  if n = 0 then List.iter wait [ 1; 3; 5; 7 ] else waiting (n - 1);
  ignore (Sys.opaque_identity n)

let () =
  try ignore (recursion 20)
  with Deep n -> waiting (10 * n)
