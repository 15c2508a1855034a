"""Large and often named cities with the US state or the country that a reader takes them to be in.

A name stands once: the place that the bare name means in ordinary use. Rows are `code: names`.
"""

from __future__ import annotations

_US = """
AL Birmingham|Montgomery|Huntsville|Mobile;AK Anchorage|Fairbanks|Juneau
AZ Phoenix|Tucson|Mesa|Chandler|Scottsdale|Glendale|Gilbert|Tempe|Peoria|Flagstaff|Sedona
AR Little Rock|Fayetteville
CA Los Angeles|San Diego|San Jose|San Francisco|Fresno|Sacramento|Long Beach|Oakland|Bakersfield|Anaheim
CA Santa Ana|Riverside|Stockton|Irvine|Chula Vista|Fremont|San Bernardino|Modesto|Oxnard|Fontana
CA Moreno Valley|Huntington Beach|Santa Clarita|Garden Grove|Oceanside|Rancho Cucamonga|Santa Rosa|Ontario
CA Elk Grove|Corona|Hayward|Palmdale|Salinas|Pomona|Sunnyvale|Escondido|Torrance|Pasadena|Fullerton
CA Orange|Visalia|Concord|Thousand Oaks|Roseville|Santa Clara|Vallejo|Simi Valley|Berkeley|Fairfield|Antioch
CA Richmond|Burbank|Inglewood|Santa Monica|Palo Alto|Mountain View|Cupertino|San Mateo|Daly City
CA Redwood City|Walnut Creek|Livermore|Pleasanton|Santa Cruz|Napa|Sonoma|Santa Barbara|Monterey|Petaluma|Novato
CA San Rafael|Alameda|Pleasant Hill|Dublin|Milpitas|Menlo Park|San Ramon|Danville|Sausalito|Mill Valley
CA Beverly Hills|Hollywood|Malibu|Palm Springs|Newport Beach|Carlsbad|San Leandro|Union City|Newark|Martinez
CA Emeryville|Benicia|American Canyon|Gilroy|Morgan Hill|Los Gatos|Campbell|Saratoga|Hercules|Pinole|Tracy
CA Los Altos|Vacaville|Larkspur|Burlingame|San Lorenzo|San Bruno|San Carlos|Foster City|Castro Valley|Brentwood
CA Pittsburg|Orinda|Moraga|El Cerrito|Sebastopol|Healdsburg|Rohnert Park|Half Moon Bay|Pacifica|South San Francisco
CA Millbrae|Tiburon|Corte Madera|San Anselmo|Belvedere|Suisun City|Dixon|Davis|Folsom|Chico|Redding|Merced
CA Turlock|Clovis|Ventura|Camarillo|Lancaster California|Temecula|Murrieta|Encinitas|Costa Mesa|Laguna Beach
CA Culver City|Carmel|Big Sur|Truckee;CO Denver|Colorado Springs|Aurora|Fort Collins|Lakewood|Boulder|Aspen|Vail
CT Bridgeport|New Haven|Stamford|Hartford;DE Wilmington|Dover;DC Washington
FL Boca Raton|Kissimmee|Daytona Beach|St. Augustine|Fort Myers|Lakeland|Coral Gables|Hollywood Florida
IL Schaumburg|Skokie|Oak Park|Springfield Illinois;MA Newton|Brookline|Quincy|Plymouth Massachusetts|Nantucket
NJ Edison|Morristown|Cherry Hill;NY New Rochelle|Saratoga Springs|Lake Placid|Poughkeepsie
TX Round Rock|Sugar Land|Katy|Denton|Killeen|Beaumont|College Station|McAllen|Brownsville|Midland|Odessa Texas
WA Bellingham|Renton|Yakima|Kent Washington|Leavenworth;OR Salem Oregon|Corvallis|Medford;MI Traverse City
FL Jacksonville|Miami|Tampa|Orlando|St. Petersburg|Hialeah|Tallahassee|Fort Lauderdale|Port St. Lucie
FL Cape Coral|Pembroke Pines|Gainesville|Miami Beach|Sarasota|Naples|Key West|West Palm Beach|Clearwater|Pensacola
GA Atlanta|Augusta|Savannah|Athens|Macon;HI Honolulu|Hilo|Lahaina;ID Boise|Idaho Falls
IL Chicago|Naperville|Joliet|Rockford|Evanston|Champaign
IN Indianapolis|Fort Wayne|Evansville|South Bend|Bloomington;IA Des Moines|Cedar Rapids|Iowa City
KS Wichita|Overland Park|Topeka;KY Louisville|Lexington|Frankfort;LA New Orleans|Baton Rouge|Shreveport|Lafayette
ME Portland Maine|Bangor|Bar Harbor;MD Baltimore|Annapolis|Rockville|Bethesda|Columbia Maryland|Frederick
MA Boston|Worcester|Lowell|Salem|Somerville|Amherst|Cambridge Massachusetts
MI Detroit|Grand Rapids|Ann Arbor|Lansing|Flint|Dearborn|Kalamazoo
MN Minneapolis|St. Paul|Saint Paul|Rochester Minnesota|Duluth;MS Biloxi;MO Kansas City|St. Louis|Saint Louis|Branson
MT Billings|Missoula|Bozeman|Helena;NE Omaha|Lincoln;NV Las Vegas|Henderson|Reno|Carson City
NH Manchester New Hampshire|Nashua;NJ Jersey City|Trenton|Atlantic City|Hoboken|Princeton|Paterson|Camden
NM Albuquerque|Santa Fe|Las Cruces|Roswell
NY New York|New York City|NYC|Brooklyn|Manhattan|Queens|Bronx|Staten Island|Buffalo|Rochester|Yonkers|Syracuse
NY Albany|Ithaca|White Plains|Long Island|Niagara Falls
NC Charlotte|Raleigh|Greensboro|Durham|Winston-Salem|Asheville|Chapel Hill|Cary;ND Fargo|Bismarck
OH Columbus|Cleveland|Cincinnati|Toledo|Akron|Dayton;OK Oklahoma City|Tulsa;OR Portland|Eugene|Bend|Ashland
PA Philadelphia|Pittsburgh|Allentown|Scranton|Harrisburg|Hershey|Lancaster|Philly;RI Newport|Providence
SC Charleston|Columbia|Myrtle Beach|Greenville|Hilton Head;SD Sioux Falls|Rapid City
TN Nashville|Memphis|Knoxville|Chattanooga
TX Houston|San Antonio|Dallas|Austin|Fort Worth|El Paso|Arlington|Corpus Christi|Plano|Laredo|Lubbock|Irving
TX Garland|Frisco|McKinney|Amarillo|Waco|Galveston;UT Salt Lake City|Provo|Park City|Moab
VT Burlington|Montpelier|Stowe
VA Virginia Beach|Norfolk|Chesapeake|Alexandria Virginia|Roanoke|Charlottesville|Williamsburg|Reston
WA Seattle|Spokane|Tacoma|Bellevue|Redmond|Everett|Olympia|Kirkland;WV Morgantown
WI Milwaukee|Madison|Green Bay|Kenosha;WY Cheyenne|Jackson Hole|Casper
"""
_WORLD = """
GB London|Manchester|Birmingham UK|Liverpool|Edinburgh|Glasgow|Leeds|Bristol|Cambridge|Oxford|Cardiff|Belfast
GB Brighton|York|Bath|Sheffield|Nottingham|Newcastle|Aberdeen|Southampton|Plymouth|Leicester|Coventry
IE Dublin Ireland|Cork|Galway|Limerick|Letterkenny
FR Paris|Marseille|Lyon|Nice|Toulouse|Bordeaux|Strasbourg|Lille|Nantes|Montpellier|Cannes|Grenoble|Avignon
DE Berlin|Munich|München|Hamburg|Frankfurt|Cologne|Köln|Stuttgart|Düsseldorf|Dresden|Leipzig|Hanover|Nuremberg
DE Heidelberg|Bremen|Bonn|Dortmund|Essen;AT Vienna|Salzburg|Innsbruck|Graz|Linz
CH Zurich|Zürich|Geneva|Basel|Bern|Lausanne|Lucerne|Interlaken|Lugano
IT Rome|Milan|Venice|Florence|Turin|Bologna|Verona|Pisa|Genoa|Palermo|Siena|Naples Italy
ES Madrid|Barcelona|Seville|Valencia|Bilbao|Granada|Málaga|Malaga|Ibiza;PT Lisbon|Porto|Faro
NL Amsterdam|Rotterdam|The Hague|Utrecht|Eindhoven;BE Brussels|Antwerp|Ghent|Bruges;DK Copenhagen|Aarhus|Odense
SE Stockholm|Gothenburg|Malmö|Uppsala;NO Oslo|Bergen|Trondheim|Tromsø;FI Helsinki|Tampere;IS Reykjavik|Reykjavík
PL Warsaw|Krakow|Kraków|Gdansk|Wroclaw|Poznan;CZ Prague|Brno;HU Budapest;RO Bucharest;BG Sofia
GR Athens Greece|Thessaloniki|Santorini|Mykonos;TR Istanbul|Ankara|Izmir|Antalya;RU Moscow|Saint Petersburg
UA Kyiv|Kiev|Lviv|Odesa;HR Zagreb|Split|Dubrovnik;RS Belgrade;SI Ljubljana;SK Bratislava;EE Tallinn;LV Riga
LT Vilnius;LU Luxembourg City
CA Toronto|Montreal|Vancouver|Calgary|Ottawa|Edmonton|Quebec City|Winnipeg|Halifax|Victoria|Banff|Whistler
MX Mexico City|Guadalajara|Monterrey|Cancun|Cancún|Tijuana|Puebla
BR São Paulo|Sao Paulo|Rio de Janeiro|Brasilia|Salvador|Curitiba;AR Buenos Aires|Mendoza;CL Santiago|Valparaiso
PE Lima|Cusco;CO Bogota|Bogotá|Medellin|Medellín|Cartagena;EC Quito;VE Caracas;UY Montevideo;CU Havana
JP Tokyo|Osaka|Kyoto|Yokohama|Nagoya|Sapporo|Fukuoka|Kobe|Hiroshima|Nara|Okinawa
KR Seoul|Busan|Incheon|Daegu|Daejeon|Gwangju|Jeju
CN Beijing|Shanghai|Shenzhen|Guangzhou|Chengdu|Hangzhou|Wuhan|Xi'an|Nanjing|Chongqing|Tianjin|Suzhou
TW Taipei|Kaohsiung
IN Mumbai|Delhi|New Delhi|Bangalore|Bengaluru|Chennai|Kolkata|Hyderabad|Pune|Ahmedabad|Jaipur|Goa|Agra|Lucknow
IN Gurgaon|Gurugram|Kochi|Varanasi|Chandigarh;PK Karachi|Lahore|Islamabad;BD Dhaka;LK Colombo;NP Kathmandu
TH Bangkok|Phuket|Chiang Mai|Pattaya;VN Hanoi|Ho Chi Minh City|Saigon|Da Nang|Hoi An|Nha Trang|Hue
ID Jakarta|Bali|Surabaya|Bandung|Yogyakarta;MY Kuala Lumpur|Penang|Johor Bahru;PH Manila|Cebu|Davao|Quezon City
KH Phnom Penh|Siem Reap;MM Yangon;AE Dubai|Abu Dhabi|Sharjah;SA Riyadh|Jeddah|Mecca|Medina;QA Doha
IL Tel Aviv|Jerusalem|Haifa;JO Amman|Petra;LB Beirut;EG Cairo|Luxor|Giza;MA Marrakech|Casablanca|Rabat|Fez;TN Tunis
ZA Cape Town|Johannesburg|Durban|Pretoria;KE Nairobi|Mombasa;NG Lagos|Abuja|Kano;GH Accra;ET Addis Ababa
TZ Dar es Salaam|Zanzibar;AU Sydney|Melbourne|Brisbane|Perth|Adelaide|Canberra|Gold Coast|Cairns|Hobart|Darwin
NZ Auckland|Wellington|Christchurch|Queenstown;IR Tehran;IQ Baghdad;KZ Almaty|Astana
"""


def _places(table: str) -> dict[str, str]:
    places: dict[str, str] = {}
    for entry in table.replace("\n", ";").split(";"):
        if entry.strip():
            code, names = entry.strip().split(" ", 1)
            for name in names.split("|"):
                places.setdefault(name.lower(), code)
    return places


US_CITIES = _places(_US)
WORLD_CITIES = _places(_WORLD)
# Other names of one city; each group means the same place.
SAME_CITY = (
    ("new york", "new york city", "nyc", "new york, ny", "big apple"),
    ("los angeles", "la", "l.a."),
    ("san francisco", "sf", "san fran", "s.f."),
    ("washington", "washington dc", "washington d.c.", "washington, dc", "dc"),
    ("las vegas", "vegas"),
    ("chicago", "chi-town", "windy city"),
    ("philadelphia", "philly"),
    ("new orleans", "nola"),
    ("st. louis", "saint louis", "st louis"),
    ("st. paul", "saint paul", "st paul"),
    ("munich", "münchen"),
    ("cologne", "köln"),
    ("vienna", "wien"),
    ("rome", "roma"),
    ("bangalore", "bengaluru"),
    ("mumbai", "bombay"),
    ("ho chi minh city", "saigon", "hcmc"),
    ("seoul", "서울"),
    ("busan", "부산"),
    ("tokyo", "東京", "도쿄"),
    ("kyoto", "京都"),
    ("osaka", "大阪"),
    ("beijing", "北京"),
    ("shanghai", "上海"),
    ("guangzhou", "广州"),
    ("shenzhen", "深圳"),
)
