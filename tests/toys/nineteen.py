"""The same letter in fifty languages, a few sentences each, written for tests."""

NINETEEN = {
    "en": """Yesterday evening we walked along the river and talked about what comes next.
The water was frozen already, but the ice was thin and nobody dared to step on it.
My sister told me that she will move to another town in spring, because of her work.""",
    "zh": """昨天晚上，我们沿着河边走了很久，一边走一边谈将来的打算。
河水已经结了冰，可是冰还很薄，没有人敢走上去，我们就在岸边站了一会儿。
妹妹告诉我，她春天要搬到另一个城市去，因为她在那里找到了新的工作，说是下个月就开始。""",
    "de": """Gestern Abend sind wir am Fluss entlanggegangen und haben über die Zukunft gesprochen.
Das Wasser war schon gefroren, aber das Eis war noch dünn, und niemand traute sich hinaus.
Meine Schwester sagte mir, dass sie im Frühling wegen ihrer Arbeit in eine andere Stadt zieht.""",
    "fr": """Hier soir, nous avons marché le long du fleuve en parlant de l'avenir.
L'eau était déjà gelée, mais la glace restait mince et personne n'osait s'y risquer.
Ma sœur m'a raconté qu'elle partirait vivre dans une autre ville au printemps, pour son travail.""",
    "ru": """Вчера вечером мы гуляли по набережной и говорили о будущем.
Река уже замёрзла, но лёд был ещё тонкий, и никто не решался выходить на него.
Моя сестра рассказала, что весной переедет в другой город, потому что нашла там работу.""",
    "es": """Ayer por la tarde caminamos junto al río y hablamos de lo que vendrá después.
El agua ya estaba helada, pero el hielo era delgado y nadie se atrevía a pisarlo.
Mi hermana me contó que en primavera se mudará a otra ciudad por su trabajo.""",
    "ja": """昨日の夜、わたしたちは川のそばをゆっくり歩きながら、これからのことを話しました。
水はもう凍っていましたが、氷はまだ薄く、だれもその上を歩こうとはしませんでした。
妹は春になったら、仕事のために別の町へ引っ越すそうです。""",
    "ko": """어제 저녁에 우리는 강가를 따라 걸으면서 앞으로의 일을 이야기했습니다.
물은 벌써 얼어 있었지만 얼음이 얇아서 아무도 그 위에 올라가려고 하지 않았습니다.
여동생은 봄이 되면 일 때문에 다른 도시로 이사할 것이라고 말했습니다.""",
    "pt": """Ontem à noite caminhámos ao longo do rio e falámos do que vem a seguir.
A água já estava gelada, mas o gelo era fino e ninguém se atrevia a pisá-lo.
A minha irmã contou-me que na primavera vai mudar-se para outra cidade por causa do trabalho.""",
    "it": """Ieri sera abbiamo camminato lungo il fiume e parlato di quello che verrà.
L'acqua era già gelata, ma il ghiaccio era sottile e nessuno osava salirci sopra.
Mia sorella mi ha detto che in primavera si trasferirà in un'altra città per il suo lavoro.""",
    "ar": """مشينا مساء أمس على ضفة النهر وتحدثنا عما سيأتي بعد ذلك.
كان الماء قد تجمد، لكن الجليد كان رقيقا ولم يجرؤ أحد على السير فوقه.
أخبرتني أختي أنها ستنتقل إلى مدينة أخرى في الربيع بسبب عملها.""",
    "cs": """Včera večer jsme šli podél řeky a mluvili o tom, co bude dál.
Voda už zamrzla, ale led byl ještě tenký a nikdo se neodvážil na něj vstoupit.
Sestra mi řekla, že se na jaře kvůli práci přestěhuje do jiného města.""",
    "nl": """Gisteravond liepen we langs de rivier en praatten we over wat er nog komt.
Het water was al bevroren, maar het ijs was dun en niemand durfde erop te stappen.
Mijn zus vertelde me dat ze in het voorjaar voor haar werk naar een andere stad verhuist.""",
    "pl": """Wczoraj wieczorem szliśmy wzdłuż rzeki i rozmawialiśmy o tym, co będzie dalej.
Woda już zamarzła, ale lód był cienki i nikt nie odważył się na niego wejść.
Siostra powiedziała mi, że wiosną przeprowadzi się do innego miasta z powodu pracy.""",
    "tr": """Dün akşam nehir boyunca yürüdük ve bundan sonra ne olacağını konuştuk.
Su çoktan donmuştu ama buz inceydi ve kimse üzerine basmaya cesaret edemedi.
Kız kardeşim bana işi yüzünden ilkbaharda başka bir şehre taşınacağını söyledi.""",
    "uk": """Учора ввечері ми гуляли вздовж річки й говорили про те, що буде далі.
Вода вже замерзла, але крига була тонка, і ніхто не наважувався на неї ступити.
Сестра розповіла мені, що навесні через роботу переїде до іншого міста.""",
    "hi": """कल शाम हम नदी के किनारे चलते रहे और आगे की बातें करते रहे।
पानी जम चुका था, लेकिन बर्फ़ पतली थी और कोई उस पर पैर रखने की हिम्मत नहीं कर रहा था।
मेरी बहन ने मुझे बताया कि वह अपने काम के कारण वसंत में दूसरे शहर चली जाएगी।""",
    "id": """Kemarin malam kami berjalan di tepi sungai dan berbicara tentang apa yang akan datang.
Airnya sudah membeku, tetapi esnya masih tipis dan tidak ada yang berani menginjaknya.
Adik saya bercerita bahwa dia akan pindah ke kota lain karena pekerjaannya.""",
    "vi": """Tối hôm qua chúng tôi đi dạo dọc bờ sông và nói chuyện về tương lai.
Mặt nước đã đóng băng, nhưng lớp băng còn mỏng và không ai dám bước lên.
Em gái tôi kể rằng mùa xuân này em sẽ chuyển đến một thành phố khác vì công việc.""",
}
OTHERS = {
    "sv": """Igår kväll gick vi längs floden och pratade om vad som kommer sedan.
Vattnet hade redan frusit, men isen var tunn och ingen vågade kliva ut på den.
Min syster berättade att hon flyttar till en annan stad i vår för sitt arbete.""",
    "sk": """Včera večer sme sa prechádzali popri rieke a rozprávali sa o tom, čo bude ďalej.
Voda už zamrzla, ale ľad bol ešte tenký a nikto sa naň neodvážil vstúpiť.
Sestra mi povedala, že sa na jar kvôli práci presťahuje do iného mesta.""",
    "bg": """Снощи се разхождахме край реката и говорихме за това, което предстои.
Водата вече беше замръзнала, но ледът беше тънък и никой не смееше да стъпи на него.
Сестра ми каза, че напролет ще се премести в друг град заради работата си.""",
    "fa": """دیشب در کنار رودخانه قدم زدیم و درباره آینده حرف زدیم.
آب یخ زده بود، اما یخ هنوز نازک بود و هیچ کس جرات نمی‌کرد روی آن پا بگذارد.
خواهرم به من گفت که بهار به خاطر کارش به شهر دیگری خواهد رفت.""",
    "el": """Χθες το βράδυ περπατήσαμε δίπλα στο ποτάμι και μιλήσαμε για το μέλλον.
Το νερό είχε ήδη παγώσει, αλλά ο πάγος ήταν λεπτός και κανείς δεν τολμούσε να τον πατήσει.""",
    "bn": """গতকাল সন্ধ্যায় আমরা নদীর ধারে হাঁটছিলাম এবং ভবিষ্যৎ নিয়ে কথা বলছিলাম।
আমার বোন আমাকে বলল যে সে কাজের জন্য বসন্তে অন্য শহরে চলে যাবে।""",
    "da": """I går aftes gik vi langs floden og talte om, hvad der kommer bagefter.
Vandet var allerede frosset, men isen var tynd, og ingen turde træde ud på den.""",
    "no": """I går kveld gikk vi langs elva og snakket om hva som kommer etterpå.
Vannet hadde allerede frosset, men isen var tynn, og ingen våget å gå ut på den.""",
    "et": """Eile õhtul jalutasime jõe ääres ja rääkisime sellest, mis edasi saab.
Vesi oli juba jäätunud, aga jää oli õhuke ja keegi ei julgenud sellele astuda.""",
    "fi": """Eilen illalla kävelimme joen vartta ja puhuimme siitä, mitä seuraavaksi tapahtuu.
Vesi oli jo jäätynyt, mutta jää oli ohutta eikä kukaan uskaltanut astua sille.""",
    "he": """אתמול בערב הלכנו לאורך הנהר ודיברנו על מה שיבוא אחר כך.
המים כבר קפאו, אבל הקרח היה דק ואיש לא העז לדרוך עליו.
אחותי סיפרה לי שבאביב היא תעבור לעיר אחרת בגלל העבודה שלה.""",
    "hr": """Jučer navečer šetali smo uz rijeku i razgovarali o tome što će biti dalje.
Voda se već zaledila, ali led je bio tanak i nitko se nije usudio stati na njega.
Sestra mi je rekla da će se u proljeće zbog posla preseliti u drugi grad.""",
    "sr": """Sinoć smo šetali pored reke i razgovarali o tome šta će biti dalje.
Voda se već zaledila, ali led je bio tanak i niko nije smeo da stane na njega.
Sestra mi je rekla da će se na proleće zbog posla preseliti u drugi grad.""",
    "sl": """Sinoči smo se sprehajali ob reki in se pogovarjali o tem, kaj bo sledilo.
Voda je že zmrznila, a led je bil tanek in nihče si ni upal stopiti nanj.""",
    "hu": """Tegnap este a folyó mentén sétáltunk, és arról beszélgettünk, mi lesz azután.
A víz már befagyott, de a jég vékony volt, és senki sem mert rálépni.""",
    "km": """កាលពីល្ងាចម្សិលមិញ យើងបានដើរតាមមាត់ទន្លេ ហើយនិយាយអំពីអនាគត។
បងស្រីខ្ញុំប្រាប់ខ្ញុំថា នាងនឹងផ្លាស់ទៅទីក្រុងមួយទៀត ដោយសារការងាររបស់នាង។""",
    "kn": """ನಿನ್ನೆ ಸಂಜೆ ನಾವು ನದಿಯ ದಡದಲ್ಲಿ ನಡೆದಾಡುತ್ತಾ ಭವಿಷ್ಯದ ಬಗ್ಗೆ ಮಾತನಾಡಿದೆವು.
ನನ್ನ ತಂಗಿ ಕೆಲಸದ ಕಾರಣ ಬೇರೆ ಊರಿಗೆ ಹೋಗುತ್ತೇನೆ ಎಂದು ನನಗೆ ಹೇಳಿದಳು.""",
    "lt": """Vakar vakare vaikščiojome palei upę ir kalbėjomės apie tai, kas bus toliau.
Vanduo jau buvo užšalęs, bet ledas buvo plonas ir niekas nedrįso ant jo lipti.""",
    "ml": """ഇന്നലെ വൈകുന്നേരം ഞങ്ങൾ പുഴയുടെ തീരത്തുകൂടി നടന്നു, ഭാവിയെക്കുറിച്ച് സംസാരിച്ചു.
ജോലി കാരണം മറ്റൊരു നഗരത്തിലേക്ക് പോകുമെന്ന് എന്റെ സഹോദരി എന്നോട് പറഞ്ഞു.""",
    "mr": """काल संध्याकाळी आम्ही नदीच्या काठाने चालत होतो आणि पुढे काय होणार याबद्दल बोलत होतो.
माझ्या बहिणीने मला सांगितले की कामामुळे ती वसंतात दुसऱ्या शहरात राहायला जाणार आहे.""",
    "ms": """Petang semalam kami berjalan di tepi sungai dan berbual tentang apa yang akan berlaku.
Airnya sudah membeku, tetapi aisnya masih nipis dan tiada sesiapa berani memijaknya.
Kakak saya memberitahu bahawa dia akan berpindah ke bandar lain kerana pekerjaannya.""",
    "my": """မနေ့ညနေက ကျွန်တော်တို့ မြစ်ကမ်းတစ်လျှောက် လမ်းလျှောက်ပြီး အနာဂတ်အကြောင်း ပြောခဲ့ကြတယ်။
ကျွန်တော့်ညီမက သူ့အလုပ်ကြောင့် တခြားမြို့ကို ပြောင်းမယ်လို့ ပြောတယ်။""",
    "ne": """हिजो साँझ हामी नदीको किनारमा हिँड्यौं र अब के हुन्छ भन्ने कुरा गर्यौं।
पानी जमिसकेको थियो, तर बरफ पातलो थियो र कसैले त्यसमा टेक्ने आँट गरेन।
मेरी बहिनीले मलाई भनिन् कि उनी कामका कारण अर्को सहरमा सर्नेछिन्।""",
    "pa": """ਕੱਲ੍ਹ ਸ਼ਾਮ ਅਸੀਂ ਨਦੀ ਦੇ ਕੰਢੇ ਤੁਰਦੇ ਰਹੇ ਅਤੇ ਭਵਿੱਖ ਬਾਰੇ ਗੱਲਾਂ ਕਰਦੇ ਰਹੇ।
ਮੇਰੀ ਭੈਣ ਨੇ ਮੈਨੂੰ ਦੱਸਿਆ ਕਿ ਉਹ ਆਪਣੇ ਕੰਮ ਕਰਕੇ ਦੂਜੇ ਸ਼ਹਿਰ ਚਲੀ ਜਾਵੇਗੀ।""",
    "ro": """Aseară ne-am plimbat de-a lungul râului și am vorbit despre ce va urma.
Apa înghețase deja, dar gheața era subțire și nimeni nu îndrăznea să calce pe ea.""",
    "sw": """Jana jioni tulitembea kando ya mto na kuzungumza kuhusu mambo yajayo.
Dada yangu aliniambia kwamba atahamia mji mwingine kwa sababu ya kazi yake.""",
    "ta": """நேற்று மாலை நாங்கள் ஆற்றங்கரையில் நடந்து எதிர்காலத்தைப் பற்றிப் பேசினோம்.
வேலை காரணமாக வேறு ஊருக்குப் போவதாக என் தங்கை என்னிடம் சொன்னாள்.""",
    "te": """నిన్న సాయంత్రం మేము నది ఒడ్డున నడుస్తూ భవిష్యత్తు గురించి మాట్లాడుకున్నాము.
పని కారణంగా వేరే ఊరికి వెళ్తానని మా చెల్లి నాతో చెప్పింది.""",
    "th": """เมื่อวานตอนเย็นเราเดินเล่นริมแม่น้ำและคุยกันเรื่องอนาคต
น้องสาวบอกฉันว่าเธอจะย้ายไปอยู่เมืองอื่นเพราะงานของเธอในฤดูใบไม้ผลิ""",
    "tl": """Kagabi naglakad kami sa tabi ng ilog at pinag-usapan namin ang mga susunod na araw.
Sinabi sa akin ng kapatid ko na lilipat siya sa ibang lungsod dahil sa kanyang trabaho.""",
    "ur": """کل شام ہم دریا کے کنارے چلتے رہے اور آنے والے دنوں کی باتیں کرتے رہے۔
میری بہن نے مجھے بتایا کہ وہ اپنے کام کی وجہ سے بہار میں دوسرے شہر چلی جائے گی۔""",
}
LINES = {code: text.split("\n") for code, text in {**NINETEEN, **OTHERS}.items()}
