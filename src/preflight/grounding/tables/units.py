"""Units of measure: name -> (dimension, factor to the base unit, offset). Temperatures carry an offset."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple


class Unit(NamedTuple):
    """`base = value * factor + offset`; units of one dimension convert into each other."""

    name: str
    dimension: str
    factor: Decimal
    offset: Decimal = Decimal(0)


_ROWS = """
second time 1 s sec secs seconds segundo segundos sekunde sekunden seconde secondes 초 秒
minute time 60 min mins minutes minuto minutos minuten 분 分
hour time 3600 h hr hrs hours hora horas stunde stunden heure heures 시간 時間
day time 86400 d days día días tag tage tagen jour jours 일 日間
week time 604800 weeks wk wks semana semanas woche wochen semaine semaines 주 週間
millisecond time 0.001 ms millisecond milliseconds
month months 1 months mes meses monat monate monaten mois 개월 か月 ヶ月
year months 12 years yr yrs año años jahr jahre jahren ans année années
quarter months 3 quarters
decade months 120 decades
millimetre length 0.001 mm millimeter millimeters millimetre millimetres
centimetre length 0.01 cm centimeter centimeters centimetre centimetres
metre length 1 m meter meters metre metres metro metros
kilometre length 1000 km kilometer kilometers kilometre kilometres kilómetro kilómetros
mile length 1609.344 mi mile miles milla millas meile meilen
foot length 0.3048 ft foot feet
inch length 0.0254 in inch inches
yard length 0.9144 yd yard yards
nanometre length 0.000000001 nm nanometer nanometers nanometre nanometres
micrometre length 0.000001 µm um micrometer micrometers micron microns
milligram mass 0.001 mg milligram milligrams
gram mass 1 g gram grams gramo gramos gramm gramme grammes
kilogram mass 1000 kg kilo kilos kilogram kilograms kilogramo kilogramos kilogramm
tonne mass 1000000 tonne tonnes
pound mass 453.59237 lb lbs pound pounds
ounce mass 28.349523125 oz ounce ounces
millilitre volume 0.001 ml milliliter milliliters millilitre millilitres
litre volume 1 l liter liters litre litres litro litros
gallon volume 3.785411784 gallon gallons
hertz frequency 1 hz hertz
kilohertz frequency 1000 khz kilohertz
megahertz frequency 1000000 mhz megahertz
gigahertz frequency 1000000000 ghz gigahertz
byte data 1 byte bytes
kilobyte data 1000 kb kilobyte kilobytes
megabyte data 1000000 mb megabyte megabytes
gigabyte data 1000000000 gb gigabyte gigabytes
terabyte data 1000000000000 tb terabyte terabytes
metre/second speed 1 m/s mps
kilometre/hour speed 0.2777777777777777777777777778 km/h kmh kph
mile/hour speed 0.44704 mph
volt voltage 1 v volt volts
ampere current 1 a amp amps ampere amperes
watt power 1 w watt watts
kilowatt power 1000 kw kilowatt kilowatts
farad capacitance 1 farads
henry inductance 1 henries henrys
ohm resistance 1 ohms
pascal pressure 1 pa pascal pascals
kilopascal pressure 1000 kpa kilopascal kilopascals
newton force 1 n newton newtons
joule energy 1 j joule joules
kilojoule energy 1000 kj kilojoule kilojoules
"""


def _units() -> dict[str, Unit]:
    table: dict[str, Unit] = {}
    for row in _ROWS.strip().splitlines():
        name, dimension, factor, *names = row.split()
        for alias in (name, *names):
            table[alias] = Unit(name, dimension, Decimal(factor))
    celsius = Unit("celsius", "temperature", Decimal(1))
    fahrenheit = Unit("fahrenheit", "temperature", Decimal(5) / 9, Decimal(-160) / 9)
    kelvin = Unit("kelvin", "temperature", Decimal(1), Decimal("-273.15"))
    table |= dict.fromkeys(("celsius", "°c", "ºc", "c", "centigrade", "℃", "°celsius"), celsius)
    table |= dict.fromkeys(("fahrenheit", "°f", "ºf", "f", "℉", "°fahrenheit"), fahrenheit)
    table |= dict.fromkeys(("kelvin", "k", "kelvins"), kelvin)
    return table


_SI_PREFIXES = {"p": -12, "n": -9, "µ": -6, "μ": -6, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9}
_SI_BASES = {
    "F": ("farad", "capacitance"),
    "H": ("henry", "inductance"),
    "V": ("volt", "voltage"),
    "A": ("ampere", "current"),
    "W": ("watt", "power"),
    "Ω": ("ohm", "resistance"),
}


def _si_symbols() -> dict[str, Unit]:
    """`50mH`, `100µF`: symbols whose case matters."""
    return {
        prefix + symbol: Unit(f"{prefix}{symbol}", dimension, Decimal(1).scaleb(power))
        for symbol, (_, dimension) in _SI_BASES.items()
        for prefix, power in _SI_PREFIXES.items()
    }


SI_SYMBOLS = _si_symbols()
UNITS = _units()
# Symbols of one letter name a unit only right after a number, never in a field's description.
SYMBOLS = frozenset(name for name in UNITS if len(name) < 3 and name not in ("km", "cm", "mm", "kg", "mg", "ml"))
