import Catalog
import Ledger
import Proofs
import Vocabulary

/// A charge as a customer tells of it: a day with a product or an amount, such as `12 March, 4.99` or `2026-11-03 sprout1`.
///
/// Many customers may have such a charge, so it leads to customers, and never to a purchase that nobody has redeemed.
package struct DescribedCharge: Hashable, Sendable {
    /// The longest text that is read, in bytes.
    private static let maximumTextLength = 128
    /// The largest number of customers that are found.
    package static let maximumCustomers = 50

    package let day: CalendarDay
    /// The identifiers of the products; empty if the text names none.
    package let products: [String]
    /// In thousandths of any currency; nil if the text names none.
    let amount: Int64?

    /// - Returns: Nil for a text without a day, or with neither a product of a catalog nor an amount.
    package init?(_ text: String, in catalogs: Catalogs, at now: Timestamp) {
        guard text.utf8.count <= Self.maximumTextLength else { return nil }
        var date = SpokenDate()
        var others: [Substring] = []
        for word in Self.words(of: text) where !date.take(word) { others.append(word) }
        guard let day = date.day(before: CalendarDay(now).adding(days: 2)) else { return nil }
        self.day = day
        // A product may have a number in its name: "100 Coins".
        let named = Self.products(others, in: catalogs)
        guard named.isEmpty || others.allSatisfy({ Self.amount($0) != nil }) else {
            (products, amount) = (named, nil)
            return
        }
        let place = others.firstIndex { Self.amount($0) != nil }
        amount = place.flatMap { Self.amount(others[$0]) }
        if let place { others.remove(at: place) }
        others.removeAll(where: Self.isCurrency)
        products = Self.products(others, in: catalogs)
        guard products.isEmpty == others.isEmpty, amount != nil || !products.isEmpty else { return nil }
    }

    private static func products(_ words: [Substring], in catalogs: Catalogs) -> [String] {
        words.isEmpty ? [] : catalogs.products(matching: words.joined(separator: " ")).map(\.productIdentifier)
    }

    private static func words(of text: String) -> [Substring] {
        // In Korean, a date needs no spaces: 2026년11월3일. A product may be 월간 구독.
        var spaced = ""
        for character in text {
            let endsNumber = "년월일".contains(character) && spaced.utf8.last.map(isDigit) ?? false
            spaced.append(character)
            if endsNumber { spaced.append(" ") }
        }
        return spaced.split { $0.isWhitespace }.compactMap { word in
            var word = word
            while let last = word.last, ",.;".contains(last) { word.removeLast() }
            return word.isEmpty ? nil : word
        }
    }

    /// `4.99`, `4,99`, `9,900`, `₩9,900` or `9900원` in thousandths; nil for another word.
    private static func amount(_ word: Substring) -> Int64? {
        let digits = word.drop { "$€£¥₩".contains($0) }
        let number = digits.hasSuffix("원") ? digits.dropLast() : digits
        guard (1...12).contains(number.utf8.count), number.utf8.first.map(isDigit) == true else { return nil }
        let parts = number.split(omittingEmptySubsequences: false) { $0 == "." || $0 == "," }
        guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isDigit) }) else { return nil }
        // Three digits after a separator are thousands, and one or two are a part.
        let hasPart = parts.count > 1 && parts[parts.count - 1].utf8.count < 3
        let (whole, part) = (hasPart ? parts.dropLast() : parts[...], hasPart ? parts[parts.count - 1] : "")
        guard whole.dropFirst().allSatisfy({ $0.utf8.count == 3 }), let units = Int64(whole.joined()),
            let thousandths = Int64((part + "000").prefix(3))
        else { return nil }
        return units * 1000 + thousandths
    }

    private static func isCurrency(_ word: Substring) -> Bool {
        let code = word.uppercased()
        return code == "원" || Storefront.all.contains { $0.currency == code }
    }

    fileprivate static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// The parts of a date in the order of the words.
    private struct SpokenDate {
        private static let months = [
            "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
            "november", "december",
        ]

        private var (year, month, day): (Int?, Int?, Int?) = (nil, nil, nil)

        /// Takes a word that is a date or a part of one.
        mutating func take(_ word: Substring) -> Bool {
            let parts = word.split(omittingEmptySubsequences: false) { "-./".contains($0) }.map { Int($0) }
            if parts.count == 3, month == nil, let first = parts[0], (2000...2099).contains(first),
                let second = parts[1], let third = parts[2]
            {
                (year, month, day) = (first, second, third)
                return true
            }
            let lowercase = word.lowercased()
            if month == nil, lowercase.utf8.count >= 3,
                let index = Self.months.firstIndex(where: { $0.hasPrefix(lowercase) })
                    ?? (lowercase == "sept" ? 8 : nil)
            {
                month = index + 1
                return true
            }
            let number = Int(word.prefix { $0.isASCII && $0.isNumber })
            switch (number, word.drop { $0.isASCII && $0.isNumber }) {
            case (let number?, "년") where year == nil: year = number
            case (let number?, "월") where month == nil: month = number
            case (let number?, "일") where day == nil: day = number
            case (let number?, "") where word.utf8.count == 4 && (2000...2099).contains(number) && year == nil:
                year = number
            case (let number?, ""), (let number?, "st"), (let number?, "nd"), (let number?, "rd"), (let number?, "th"):
                guard day == nil, (1...31).contains(number), word.utf8.count <= 4 else { return false }
                day = number
            default: return false
            }
            return true
        }

        /// The date; without a year, the last one before another day. Nil for no date.
        func day(before end: CalendarDay) -> CalendarDay? {
            guard let month, let day, (1...12).contains(month), (1...31).contains(day) else { return nil }
            func date(_ year: Int) -> CalendarDay? {
                func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
                return CalendarDay("\(year)-\(padded(month))-\(padded(day))")
            }
            if let year { return date(year) }
            guard let present = Int(end.description.prefix(4)) else { return nil }
            return [present, present - 1].lazy.compactMap(date).first { $0 < end }
        }
    }
}

extension LedgerTransaction {
    /// The customers who have bought something on a day, or on the day before or after: the customer's day is that of a time zone.
    package func customers(charged charge: DescribedCharge) throws -> Set<Int64> {
        var arguments: [any SQLConvertible] = [
            charge.day.adding(days: -1).start, charge.day.adding(days: 2).start,
        ]
        var conditions = ""
        if !charge.products.isEmpty {
            arguments.append(database.list(eachOf: charge.products))
            // The plus keeps SQLite from reading all purchases of a product, of which the days have few.
            conditions +=
                " AND +product IN (SELECT product FROM product WHERE product_id \(database.isIn("$\(arguments.count)")))"
        }
        if let amount = charge.amount {
            arguments.append(amount)
            conditions += " AND price = $\(arguments.count)"
        }
        return Set(
            try database.rows(
                """
                SELECT DISTINCT user_id FROM redeemed_transaction
                WHERE purchase_date >= $1 AND purchase_date < $2\(conditions) LIMIT $\(arguments.count + 1)
                """,
                arguments + [DescribedCharge.maximumCustomers]
            ) { try $0.next() as Int64 })
    }
}

extension Catalogs {
    /// The products whose identifier or name contains a text, at most ten.
    package func products(matching text: String) -> [Product] {
        guard (3...64).contains(text.utf8.count) else { return [] }
        let wanted = FoldedText(text)
        var found: [Product] = []
        for product in all.flatMap(\.products) where found.count < 10 {
            let texts = [product.productIdentifier] + product.localizations.map(\.displayName)
            let isKnown = found.contains { $0.productIdentifier.hasSameBytes(as: product.productIdentifier) }
            if !isKnown, texts.contains(where: { FoldedText($0).contains(wanted) }) { found.append(product) }
        }
        return found
    }
}
