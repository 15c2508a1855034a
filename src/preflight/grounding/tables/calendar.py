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
