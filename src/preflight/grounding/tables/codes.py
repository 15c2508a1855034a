"""Codes with their usual names: US states, ISO 3166 countries, ISO 4217 currencies, ISO 639 languages.

Each row is `CODE name|other name|...`; the first name is the usual one. Names of one row mean the same.
"""

from __future__ import annotations

_STATES = """
AL Alabama;AK Alaska;AZ Arizona;AR Arkansas;CA California|Calif|Cali;CO Colorado;CT Connecticut;DE Delaware
FL Florida;GA Georgia;HI Hawaii;ID Idaho;IL Illinois;IN Indiana;IA Iowa;KS Kansas;KY Kentucky;LA Louisiana;ME Maine
MD Maryland;MA Massachusetts;MI Michigan;MN Minnesota;MS Mississippi;MO Missouri;MT Montana;NE Nebraska;NV Nevada
NH New Hampshire;NJ New Jersey;NM New Mexico;NY New York|New York State;NC North Carolina;ND North Dakota;OH Ohio
OK Oklahoma;OR Oregon;PA Pennsylvania;RI Rhode Island;SC South Carolina;SD South Dakota;TN Tennessee;TX Texas
UT Utah;VT Vermont;VA Virginia;WA Washington|Washington State;WV West Virginia;WI Wisconsin;WY Wyoming
DC District of Columbia|Washington DC|Washington D.C.|D.C.
"""
_COUNTRIES = """
AF AFG Afghanistan;AL ALB Albania;DZ DZA Algeria;AD AND Andorra;AO AGO Angola;AR ARG Argentina;AM ARM Armenia
AU AUS Australia;AT AUT Austria|Österreich;AZ AZE Azerbaijan;BS BHS Bahamas|The Bahamas;BH BHR Bahrain
BD BGD Bangladesh;BB BRB Barbados;BY BLR Belarus;BE BEL Belgium;BZ BLZ Belize;BJ BEN Benin;BT BTN Bhutan
BO BOL Bolivia;BA BIH Bosnia and Herzegovina|Bosnia;BW BWA Botswana;BR BRA Brazil|Brasil;BN BRN Brunei
BG BGR Bulgaria;BF BFA Burkina Faso;BI BDI Burundi;KH KHM Cambodia;CM CMR Cameroon;CA CAN Canada
CV CPV Cape Verde|Cabo Verde;CF CAF Central African Republic;TD TCD Chad;CL CHL Chile
CN CHN China|People's Republic of China|Mainland China;CO COL Colombia;CG COG Congo
CD COD Democratic Republic of the Congo|DR Congo|DRC;CR CRI Costa Rica;CI CIV Ivory Coast|Côte d'Ivoire
HR HRV Croatia;CU CUB Cuba;CY CYP Cyprus;CZ CZE Czechia|Czech Republic;DK DNK Denmark;DJ DJI Djibouti
DO DOM Dominican Republic;EC ECU Ecuador;EG EGY Egypt;SV SLV El Salvador;EE EST Estonia;SZ SWZ Eswatini
ET ETH Ethiopia;FJ FJI Fiji;FI FIN Finland;FR FRA France;GA GAB Gabon;GM GMB Gambia;GE GEO Georgia
DE DEU Germany|Deutschland;GH GHA Ghana;GR GRC Greece;GT GTM Guatemala;GN GIN Guinea;GY GUY Guyana;HT HTI Haiti
HN HND Honduras;HK HKG Hong Kong;HU HUN Hungary;IS ISL Iceland;IN IND India;ID IDN Indonesia;IR IRN Iran;IQ IRQ Iraq
IE IRL Ireland;IL ISR Israel;IT ITA Italy|Italia;JM JAM Jamaica;JP JPN Japan|日本;JO JOR Jordan;KZ KAZ Kazakhstan
KE KEN Kenya;KR KOR South Korea|Korea|Republic of Korea|한국|대한민국;KP PRK North Korea;KW KWT Kuwait;KG KGZ Kyrgyzstan
LA LAO Laos;LV LVA Latvia;LB LBN Lebanon;LR LBR Liberia;LY LBY Libya;LI LIE Liechtenstein;LT LTU Lithuania
LU LUX Luxembourg;MO MAC Macau|Macao;MG MDG Madagascar;MW MWI Malawi;MY MYS Malaysia;MV MDV Maldives;ML MLI Mali
MT MLT Malta;MR MRT Mauritania;MU MUS Mauritius;MX MEX Mexico|México;MD MDA Moldova;MC MCO Monaco;MN MNG Mongolia
ME MNE Montenegro;MA MAR Morocco;MZ MOZ Mozambique;MM MMR Myanmar|Burma;NA NAM Namibia;NP NPL Nepal
NL NLD Netherlands|The Netherlands|Holland;NZ NZL New Zealand;NI NIC Nicaragua;NE NER Niger;NG NGA Nigeria
MK MKD North Macedonia|Macedonia;NO NOR Norway;OM OMN Oman;PK PAK Pakistan;PS PSE Palestine;PA PAN Panama
PG PNG Papua New Guinea;PY PRY Paraguay;PE PER Peru;PH PHL Philippines|The Philippines;PL POL Poland;PT PRT Portugal
PR PRI Puerto Rico;QA QAT Qatar;RO ROU Romania;RU RUS Russia|Russian Federation;RW RWA Rwanda;SA SAU Saudi Arabia
SN SEN Senegal;RS SRB Serbia;SC SYC Seychelles;SL SLE Sierra Leone;SG SGP Singapore;SK SVK Slovakia;SI SVN Slovenia
SO SOM Somalia;ZA ZAF South Africa;SS SSD South Sudan;ES ESP Spain|España;LK LKA Sri Lanka;SD SDN Sudan
SR SUR Suriname;SE SWE Sweden;CH CHE Switzerland|Schweiz|Suisse;SY SYR Syria;TW TWN Taiwan;TJ TJK Tajikistan
TZ TZA Tanzania;TH THA Thailand;TG TGO Togo;TT TTO Trinidad and Tobago;TN TUN Tunisia;TR TUR Turkey|Türkiye
TM TKM Turkmenistan;UG UGA Uganda;UA UKR Ukraine;AE ARE United Arab Emirates|UAE|Emirates
GB GBR United Kingdom|UK|U.K.|Great Britain|Britain
US USA United States|United States of America|U.S.|U.S.A.|America|the States;UY URY Uruguay;UZ UZB Uzbekistan
VA VAT Vatican City|Vatican;VE VEN Venezuela;VN VNM Vietnam|Viet Nam;YE YEM Yemen;ZM ZMB Zambia;ZW ZWE Zimbabwe
"""
_CURRENCIES = """
USD US dollar|US dollars|U.S. dollars|U.S. dollar|American dollars|American dollar|United States dollars|dollar
USD dollars|$|US$|bucks;EUR euro|euros|€
GBP British pound|British pounds|British pounds sterling|pound sterling|pounds sterling|pound|pounds|£|sterling
JPY Japanese yen|yen|¥|円;CNY Chinese yuan|yuan|renminbi|RMB|Chinese yuan renminbi
KRW Korean won|South Korean won|won|₩|원;INR Indian rupee|Indian rupees|rupee|rupees|₹
CAD Canadian dollar|Canadian dollars;AUD Australian dollar|Australian dollars
NZD New Zealand dollar|New Zealand dollars;CHF Swiss franc|Swiss francs;SEK Swedish krona|Swedish kronor
NOK Norwegian krone|Norwegian kroner;DKK Danish krone|Danish kroner;PLN Polish zloty|zloty|złoty
CZK Czech koruna|koruna;HUF Hungarian forint|forint|forints
RUB Russian ruble|Russian rubles|ruble|rubles|rouble|roubles;TRY Turkish lira
BRL Brazilian real|Brazilian reais|reais;MXN Mexican peso|Mexican pesos;ARS Argentine peso|Argentine pesos
CLP Chilean peso|Chilean pesos;COP Colombian peso|Colombian pesos;ZAR South African rand|rand
SGD Singapore dollar|Singapore dollars;HKD Hong Kong dollar|Hong Kong dollars
TWD New Taiwan dollar|Taiwan dollar|Taiwan dollars;THB Thai baht|baht;IDR Indonesian rupiah|rupiah
MYR Malaysian ringgit|ringgit;PHP Philippine peso|Philippine pesos;VND Vietnamese dong|dong
ILS Israeli shekel|shekel|shekels|Israeli new shekel;AED UAE dirham|dirham|dirhams;SAR Saudi riyal|riyal
EGP Egyptian pound|Egyptian pounds;NGN Nigerian naira|naira;KES Kenyan shilling|Kenyan shillings
UAH Ukrainian hryvnia|hryvnia;PKR Pakistani rupee|Pakistani rupees;BDT Bangladeshi taka|taka;BTC bitcoin|bitcoins
ETH ethereum|ether
"""
_LANGUAGES = """
en eng English;es spa Spanish|español|Español|Castilian;de deu German|Deutsch;fr fra French|français|Français
it ita Italian|italiano;pt por Portuguese|português;nl nld Dutch;da dan Danish;sv swe Swedish;no nor Norwegian
fi fin Finnish;is isl Icelandic;pl pol Polish;cs ces Czech;sk slk Slovak;hu hun Hungarian;ro ron Romanian
bg bul Bulgarian;el ell Greek;tr tur Turkish;ru rus Russian;uk ukr Ukrainian;hr hrv Croatian;sr srp Serbian
sl slv Slovenian;et est Estonian;lv lav Latvian;lt lit Lithuanian;ga gle Irish;cy cym Welsh;ca cat Catalan
eu eus Basque;ar ara Arabic;he heb Hebrew;fa fas Persian|Farsi;hi hin Hindi;bn ben Bengali;ur urd Urdu
pa pan Punjabi;ta tam Tamil;te tel Telugu;mr mar Marathi;gu guj Gujarati;ja jpn Japanese|日本語;ko kor Korean|한국어
zh zho Chinese|Mandarin|中文;th tha Thai;vi vie Vietnamese;id ind Indonesian;ms msa Malay;tl tgl Tagalog
sw swa Swahili;af afr Afrikaans;la lat Latin
"""


def _rows(table: str, codes: int) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Codes with their names; a row may go on in another one with the same codes."""
    rows: dict[tuple[str, ...], tuple[str, ...]] = {}
    for entry in table.replace("\n", ";").split(";"):
        if entry.strip():
            *heads, names = entry.strip().split(" ", codes)
            rows[tuple(heads)] = (*rows.get(tuple(heads), ()), *names.split("|"))
    return list(rows.items())


STATES = _rows(_STATES, 1)
COUNTRIES = _rows(_COUNTRIES, 2)
CURRENCIES = _rows(_CURRENCIES, 1)
LANGUAGES = _rows(_LANGUAGES, 2)
