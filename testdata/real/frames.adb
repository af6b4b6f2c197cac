--  Threads of an Ada program: deep in a recursion, in a nested subprogram that reads its parent's frame, in an exception's handler.
with Ada.Text_IO;
procedure Frames is
   Waiting : Natural := 0 with Volatile;

   procedure Wait_Here is
   begin
      Waiting := Waiting + 1;
      loop
         delay 100.0;
      end loop;
   end Wait_Here;
   pragma No_Inline (Wait_Here);

   function Recursion (N : Natural) return Natural is
      Local : array (0 .. N) of Natural := (others => N);
   begin
      if N = 0 then
         Wait_Here;
         return Local (0);
      end if;
      return Recursion (N - 1) + Local (N);
   end Recursion;

   procedure Nested (N : Natural) is
      Sum : Natural := 0 with Volatile;
      procedure Each (To : not null access procedure (I : Natural)) is
      begin
         for I in 0 .. N loop
            To (I);
         end loop;
      end Each;
      procedure Add (I : Natural) is
      begin
         Sum := Sum + I;
         if I = 5 then
            Wait_Here;
         end if;
      end Add;
   begin
      Each (Add'Access);
   end Nested;

   procedure Fails (N : Natural) is
   begin
      if N / (N - N) = 1 then
         Wait_Here;
      end if;
   exception
      when others =>
         Wait_Here;
   end Fails;
   pragma No_Inline (Fails);

   task Recursing;
   task body Recursing is
   begin
      Waiting := Waiting + Recursion (50);
   end Recursing;
   task Calling;
   task body Calling is
   begin
      Nested (10);
   end Calling;
   task Failing;
   task body Failing is
   begin
      Fails (7);
   end Failing;
begin
   while Waiting < 3 loop
      delay 0.001;
   end loop;
   Ada.Text_IO.Put_Line ("ready");
   Ada.Text_IO.Flush;
   Wait_Here;
end Frames;
