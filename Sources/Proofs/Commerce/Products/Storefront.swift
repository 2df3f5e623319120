/// An App Store territory with its country, its number in signed transactions and its currency.
public struct Storefront: Hashable, Sendable {
    /// The ISO 3166-1 alpha-3 code, such as `KOR`.
    public let countryCode: String
    /// The ISO 3166-1 alpha-2 code, such as `KR`.
    public let shortCountryCode: String
    /// Apple's number of the storefront (`storefrontId` of a signed transaction), such as `143466`.
    public let identifier: String
    /// The ISO 4217 code, such as `KRW`.
    public let currency: String
}

extension Storefront {
    /// - Returns: Nil if no storefront of `all` has the country.
    public init?(countryCode: String) {
        guard let known = Self.all.first(where: { $0.countryCode == countryCode }) else { return nil }
        self = known
    }

    /// All storefronts of the App Store, each with its country, number and currency. The countries are ISO 3166-1
    /// codes, and XKS and XK for Kosovo. The numbers are from Apple's iTunes headers. The currencies are from
    /// App Store Connect's price list, which uses US dollars for countries without their own price.
    public static let all: [Storefront] = table.split(separator: ",").map { row in
        let columns = row.split(whereSeparator: \.isWhitespace).map(String.init)
        precondition(columns.count == 4, "a storefront has two codes of its country, a number and a currency")
        return Storefront(
            countryCode: columns[0], shortCountryCode: columns[1], identifier: columns[2], currency: columns[3])
    }

    private static let table = """
        AFG AF 143610 USD, AGO AO 143564 USD, AIA AI 143538 USD, ALB AL 143575 USD, ARE AE 143481 AED,
        ARG AR 143505 USD, ARM AM 143524 USD, ATG AG 143540 USD, AUS AU 143460 AUD, AUT AT 143445 EUR,
        AZE AZ 143568 USD, BEL BE 143446 EUR, BEN BJ 143576 USD, BFA BF 143578 USD, BGR BG 143526 EUR,
        BHR BH 143559 USD, BHS BS 143539 USD, BIH BA 143612 EUR, BLR BY 143565 USD, BLZ BZ 143555 USD,
        BMU BM 143542 USD, BOL BO 143556 USD, BRA BR 143503 BRL, BRB BB 143541 USD, BRN BN 143560 USD,
        BTN BT 143577 USD, BWA BW 143525 USD, CAN CA 143455 CAD, CHE CH 143459 CHF, CHL CL 143483 CLP,
        CHN CN 143465 CNY, CIV CI 143527 USD, CMR CM 143574 USD, COD CD 143613 USD, COG CG 143582 USD,
        COL CO 143501 COP, CPV CV 143580 USD, CRI CR 143495 USD, CYM KY 143544 USD, CYP CY 143557 EUR,
        CZE CZ 143489 CZK, DEU DE 143443 EUR, DMA DM 143545 USD, DNK DK 143458 DKK, DOM DO 143508 USD,
        DZA DZ 143563 USD, ECU EC 143509 USD, EGY EG 143516 EGP, ESP ES 143454 EUR, EST EE 143518 EUR,
        FIN FI 143447 EUR, FJI FJ 143583 USD, FRA FR 143442 EUR, FSM FM 143591 USD, GAB GA 143614 USD,
        GBR GB 143444 GBP, GEO GE 143615 USD, GHA GH 143573 USD, GMB GM 143584 USD, GNB GW 143585 USD,
        GRC GR 143448 EUR, GRD GD 143546 USD, GTM GT 143504 USD, GUY GY 143553 USD, HKG HK 143463 HKD,
        HND HN 143510 USD, HRV HR 143494 EUR, HUN HU 143482 HUF, IDN ID 143476 IDR, IND IN 143467 INR,
        IRL IE 143449 EUR, IRQ IQ 143617 USD, ISL IS 143558 USD, ISR IL 143491 ILS, ITA IT 143450 EUR,
        JAM JM 143511 USD, JOR JO 143528 USD, JPN JP 143462 JPY, KAZ KZ 143517 KZT, KEN KE 143529 USD,
        KGZ KG 143586 USD, KHM KH 143579 USD, KNA KN 143548 USD, KOR KR 143466 KRW, KWT KW 143493 USD,
        LAO LA 143587 USD, LBN LB 143497 USD, LBR LR 143588 USD, LBY LY 143567 USD, LCA LC 143549 USD,
        LKA LK 143486 USD, LTU LT 143520 EUR, LUX LU 143451 EUR, LVA LV 143519 EUR, MAC MO 143515 USD,
        MAR MA 143620 USD, MDA MD 143523 USD, MDG MG 143531 USD, MDV MV 143488 USD, MEX MX 143468 MXN,
        MKD MK 143530 USD, MLI ML 143532 USD, MLT MT 143521 EUR, MMR MM 143570 USD, MNE ME 143619 EUR,
        MNG MN 143592 USD, MOZ MZ 143593 USD, MRT MR 143590 USD, MSR MS 143547 USD, MUS MU 143533 USD,
        MWI MW 143589 USD, MYS MY 143473 MYR, NAM NA 143594 USD, NER NE 143534 USD, NGA NG 143561 NGN,
        NIC NI 143512 USD, NLD NL 143452 EUR, NOR NO 143457 NOK, NPL NP 143484 USD, NRU NR 143606 USD,
        NZL NZ 143461 NZD, OMN OM 143562 USD, PAK PK 143477 PKR, PAN PA 143485 USD, PER PE 143507 PEN,
        PHL PH 143474 PHP, PLW PW 143595 USD, PNG PG 143597 USD, POL PL 143478 PLN, PRT PT 143453 EUR,
        PRY PY 143513 USD, QAT QA 143498 QAR, ROU RO 143487 RON, RUS RU 143469 RUB, RWA RW 143621 USD,
        SAU SA 143479 SAR, SEN SN 143535 USD, SGP SG 143464 SGD, SLB SB 143601 USD, SLE SL 143600 USD,
        SLV SV 143506 USD, SRB RS 143500 EUR, STP ST 143598 USD, SUR SR 143554 USD, SVK SK 143496 EUR,
        SVN SI 143499 EUR, SWE SE 143456 SEK, SWZ SZ 143602 USD, SYC SC 143599 USD, TCA TC 143552 USD,
        TCD TD 143581 USD, THA TH 143475 THB, TJK TJ 143603 USD, TKM TM 143604 USD, TON TO 143608 USD,
        TTO TT 143551 USD, TUN TN 143536 USD, TUR TR 143480 TRY, TWN TW 143470 TWD, TZA TZ 143572 TZS,
        UGA UG 143537 USD, UKR UA 143492 USD, URY UY 143514 USD, USA US 143441 USD, UZB UZ 143566 USD,
        VCT VC 143550 USD, VEN VE 143502 USD, VGB VG 143543 USD, VNM VN 143471 VND, VUT VU 143609 USD,
        XKS XK 143624 EUR, YEM YE 143571 USD, ZAF ZA 143472 ZAR, ZMB ZM 143622 USD, ZWE ZW 143605 USD
        """
}
