program shapes;
{$mode objfpc}
type
  TShape = class
  private
    side: integer;
  public
    constructor Create(a: integer);
    function Area(k: integer): integer; virtual;
  end;

constructor TShape.Create(a: integer);
begin
  side := a;
end;

function TShape.Area(k: integer): integer;
  function Scaled(q: integer): integer;
  begin
    Scaled := q * side;
  end;
begin
  Result := Scaled(k);
end;

procedure Plain;
begin
  writeln(1);
end;

begin
  writeln(TShape.Create(3).Area(4));
  Plain;
end.
