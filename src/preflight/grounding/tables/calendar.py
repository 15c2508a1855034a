"""Names of months, weekdays, relative days and parts of the day, in the languages that grounding reads."""

from __future__ import annotations

_MONTH_NAMES = (
    "january jan enero ene januar jänner janvier",
    "february feb febrero februar février fevrier févr",
    "march mar marzo märz marz maerz mars",
    "april apr abril abr avril avr",
    "may mayo mai",
    "june jun junio juni juin",
    "july jul julio juli juillet juil",
    "august aug agosto ago août aout",
    "september sept sep septiembre septembre",
    "october oct octubre oktober okt octobre",
    "november nov noviembre novembre",
    "december dec diciembre dic dezember dez décembre decembre déc",
)
MONTHS = {name: month for month, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}

_WEEKDAY_NAMES = (
    "monday mon lunes montag lundi 월요일 月曜日 月曜",
    "tuesday tues tue martes dienstag mardi 화요일 火曜日 火曜",
    "wednesday wed miércoles miercoles mittwoch mercredi 수요일 水曜日 水曜",
    "thursday thurs thur thu jueves donnerstag jeudi 목요일 木曜日 木曜",
    "friday fri viernes freitag vendredi 금요일 金曜日 金曜",
    "saturday sábado sabado samstag sonnabend samedi 토요일 土曜日 土曜",
    "sunday domingo sonntag dimanche 일요일 日曜日 日曜",
)
WEEKDAYS = {name: day for day, names in enumerate(_WEEKDAY_NAMES) for name in names.split()}

RELATIVE_DAYS = {
    "day after tomorrow": 2,
    "the day after tomorrow": 2,
    "day before yesterday": -2,
    "the day before yesterday": -2,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "tomorrow": 1,
    "tmrw": 1,
    "yesterday": -1,
    "last night": -1,
    "hoy": 0,
    "esta noche": 0,
    "pasado mañana": 2,
    "mañana": 1,
    "anteayer": -2,
    "ayer": -1,
    "heute": 0,
    "übermorgen": 2,
    "morgen": 1,
    "vorgestern": -2,
    "gestern": -1,
    "aujourd'hui": 0,
    "aujourd’hui": 0,
    "ce soir": 0,
    "après-demain": 2,
    "demain": 1,
    "avant-hier": -2,
    "hier": -1,
    "오늘": 0,
    "내일모레": 2,
    "내일": 1,
    "모레": 2,
    "글피": 3,
    "그저께": -2,
    "어제": -1,
    "今日": 0,
    "本日": 0,
    "明後日": 2,
    "明日": 1,
    "一昨日": -2,
    "昨日": -1,
}
# Words that mean another day in another language; they count only where the locale says so.
LANGUAGE_OF_DAY = {"hier": "fr", "morgen": "de", "heute": "de", "gestern": "de"}

_WHICH_ROWS = """
this: this|diesen|este
coming: this coming|coming|the coming|kommenden
next: next|nächsten|nächster|próximo|proximo|prochain
last: last|past|letzten|pasado
this_week: 이번 주|이번주|今週の|今週
next_week: 다음 주|다음주|来週の|来週
last_week: 지난주|지난 주|先週の|先週
"""
# Which week a weekday is of: the word before it.
WHICH = {
    word: row.partition(": ")[0]
    for row in _WHICH_ROWS.strip().splitlines()
    for word in row.partition(": ")[2].split("|")
}
# The same after it.
WHICH_AFTER = {
    "this week": "this_week",
    "last week": "last_week",
    "week": "coming_week",
    "next week": "next_week",
    "nächste woche": "next_week",
    "de la próxima semana": "next_week",
    "prochain": "next",
}
COUNT_WORDS = {
    word: count
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve",
        "null einem zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "cero una dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "zéro une deux trois quatre cinq six sept huit neuf dix onze douze",
    )
    for count, word in enumerate(words.split())
} | {"a": 1, "an": 1, "einer": 1, "un": 1}
_PERIOD_ROWS = """
day: day days día días tag tage tagen jour jours
week: week weeks semana semanas woche wochen semaine semaines
fortnight: fortnight
month: month months mes meses monat monaten mois
year: year years año años jahr jahren an ans
"""
PERIODS = {
    word: row.partition(": ")[0] for row in _PERIOD_ROWS.strip().splitlines() for word in row.partition(": ")[2].split()
}
CJK_PERIODS = {
    "일": "day",
    "日": "day",
    "주": "week",
    "週間": "week",
    "개월": "month",
    "か月": "month",
    "ヶ月": "month",
    "년": "year",
    "年": "year",
}

MORNING, AFTERNOON = "am", "pm"
DAY_PARTS = {
    "morning": MORNING,
    "afternoon": AFTERNOON,
    "evening": AFTERNOON,
    "tonight": AFTERNOON,
    "night": AFTERNOON,
    "mañana": MORNING,
    "tarde": AFTERNOON,
    "noche": AFTERNOON,
    "morgens": MORNING,
    "früh": MORNING,
    "vormittags": MORNING,
    "nachmittags": AFTERNOON,
    "abends": AFTERNOON,
    "abend": AFTERNOON,
    "matin": MORNING,
    "après-midi": AFTERNOON,
    "soir": AFTERNOON,
}
NOON = ("noon", "midday", "mediodía", "mediodia", "mittag", "midi", "정오", "正午")
MIDNIGHT = ("midnight", "medianoche", "mitternacht", "minuit", "자정", "真夜中")
