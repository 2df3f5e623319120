import Proofs

/// Amounts as people read them: in the decimal places of the currency, rounded.
extension Price {
    /// The amount with the currency's code: `KRW 1,200`, `USD 0.99`, `-EUR 4.00`.
    public var formatted: String { sign + prefix + magnitudeText }

    /// The amount as Koreans write it: `₩1,200`. Other currencies keep their code, since a dollar sign names several.
    public var korean: String { sign + koreanPrefix + magnitudeText }

    /// A sum as Koreans read it aloud: `106만 4,400원`. One below 10,000 and other currencies have no such words.
    public var koreanSum: String {
        let (value, _) = rounded
        guard currency == "KRW", value >= 10_000 else { return korean }
        let units: [(size: UInt64, name: String)] = [
            (1_000_000_000_000, "조"), (100_000_000, "억"), (10_000, "만"), (1, "원"),
        ]
        let parts = units.map { (number: value / $0.size % 10_000, name: $0.name) }
        let words = parts.filter { $0.number > 0 }.map { $0.number.groupedDigits + $0.name }
        return sign + words.joined(separator: " ") + (value.isMultiple(of: 10_000) ? " 원" : "")
    }

    /// The number of decimal places of the currency (ISO 4217).
    public var decimalPlaces: Int {
        if Self.currenciesWithoutCents.contains(currency) { return 0 }
        return Self.currenciesInThousandths.contains(currency) ? 3 : 2
    }

    private static let currenciesWithoutCents: Set = [
        "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF",
        "XPF",
    ]
    private static let currenciesInThousandths: Set = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]

    /// The magnitude in the smallest unit of the currency, and the number of these in a major unit.
    private var rounded: (value: UInt64, unit: UInt64) {
        let unit: UInt64 = decimalPlaces == 0 ? 1 : decimalPlaces == 2 ? 100 : 1000
        let factor = 1000 / unit
        return ((milliunits.magnitude + factor / 2) / factor, unit)
    }

    private var magnitudeText: String {
        let (value, unit) = rounded
        guard unit > 1 else { return value.groupedDigits }
        return (value / unit).groupedDigits + "." + String(value % unit + unit).dropFirst()
    }

    private var sign: String { milliunits < 0 && rounded.value > 0 ? "-" : "" }
    private var prefix: String { currency.isEmpty ? "" : currency + " " }
    private var koreanPrefix: String { currency == "KRW" ? "₩" : prefix }
}

extension UInt64 {
    /// The digits with a comma between thousands: `1,226,283`.
    public var groupedDigits: String {
        let digits = String(self)
        var remaining = digits.utf8.count
        guard remaining > 3 else { return digits }
        var text = ""
        for digit in digits.unicodeScalars {
            if remaining.isMultiple(of: 3), !text.isEmpty { text.unicodeScalars.append(",") }
            text.unicodeScalars.append(digit)
            remaining -= 1
        }
        return text
    }
}
