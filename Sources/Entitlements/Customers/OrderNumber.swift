import Ledger
import Proofs
import Vocabulary

/// The number of an order in the form of its store, read from a text in which a person has typed or copied it.
///
/// Case, spaces, another dash or none, a `#` before it and a missing `GPA.` make no other order.
package struct OrderNumber: Hashable, Sendable {
    /// The longest text that is read, in bytes.
    private static let maximumTextLength = 128
    /// The longest number of the App Store.
    private static let maximumLength = 64
    /// The lengths of such a number with spaces or dashes inside.
    private static let splitLengths = 10...12
    /// The digits of an order at Google Play, which are 4, 4, 4 and 5: `GPA.1234-5678-9012-34567`.
    private static let googlePlayDigits = 17
    /// The number of renewals that are looked for: weekly ones of seven years.
    private static let maximumRenewals = 366

    package let store: PurchaseStore
    /// The number as the store writes it, such as `MK5TTTVWJH` or `GPA.3345-1234-5678-90123..3`.
    package let text: String
    /// The number without that of a renewal.
    private let purchase: String

    /// - Returns: Nil for a text of another form. Digits alone are a transaction, except those of an order at Google Play.
    package init?(_ text: String) {
        guard let (letters, isSplit) = Self.letters(of: text) else { return nil }
        if let (purchase, renewal) = Self.googlePlay(letters) {
            (store, self.purchase, self.text) = (.playStore, purchase, purchase + renewal)
            return
        }
        // A name of several words, such as "mina park", is no order, and the App Store must not get it. MK5TTTVWJH has ten letters and
        // digits.
        let (hasLetter, hasDigit) = (letters.contains { !$0.isDigit }, letters.contains(where: \.isDigit))
        guard (1...Self.maximumLength).contains(letters.count), !letters.contains(Self.point), hasLetter,
            !isSplit || hasDigit && letters.first == UInt8(ascii: "M") && Self.splitLengths.contains(letters.count)
        else { return nil }
        let order = String(decoding: letters, as: UTF8.self)
        (store, purchase, self.text) = (.appStore, order, order)
    }

    private static let point = UInt8(ascii: ".")

    /// The letters, digits and points of a text in upper case, without what people add to them.
    ///
    /// - Returns: Nil for a text with other characters. `isSplit` is true for one with spaces or dashes inside.
    private static func letters(of text: String) -> (letters: [UInt8], isSplit: Bool)? {
        // A character may have any number of marks, so its bytes are counted first.
        guard text.utf8.count <= maximumTextLength else { return nil }
        var (letters, isSplit, mayBeSplit): ([UInt8], Bool, Bool) = ([], false, false)
        for scalar in text.unicodeScalars {
            // Keyboards for Korean and Japanese also type letters of full width.
            let value = (0xFF01...0xFF5E).contains(scalar.value) ? scalar.value - 0xFEE0 : scalar.value
            switch (UInt8(exactly: value), scalar.properties.generalCategory) {
            case (let letter?, _) where letter.isLetterOrDigit || letter == point:
                letters.append((0x61...0x7A).contains(letter) ? letter & 0xDF : letter)
                isSplit = isSplit || mayBeSplit
                mayBeSplit = false
            case (UInt8(ascii: "#"), _) where letters.isEmpty: continue
            // A copied number may have a mark of direction or a joiner around it.
            case (_, .format): continue
            case (_, .dashPunctuation), (_, .mathSymbol):
                // Of the symbols, the minus sign is also typed as a dash.
                guard !letters.isEmpty, scalar.properties.generalCategory == .dashPunctuation || value == 0x2212 else {
                    return nil
                }
                mayBeSplit = true
            case _ where scalar.properties.isWhitespace: mayBeSplit = !letters.isEmpty
            default: return nil
            }
        }
        return (letters, isSplit)
    }

    /// The order of a purchase, and the number of a renewal with the points before it, which is empty for the purchase itself:
    /// `GPA.1234-5678-9012-34567..0` is the first renewal
    /// (developer.android.com/google/play/billing/subscriptions, "Subscription order numbers").
    private static func googlePlay(_ letters: [UInt8]) -> (purchase: String, renewal: String)? {
        var digits = letters[...]
        if digits.starts(with: Array("GPA".utf8)) {
            digits.removeFirst(3)
            if digits.first == point { digits.removeFirst() }
        }
        let (number, rest) = (digits.prefix(googlePlayDigits), digits.dropFirst(googlePlayDigits))
        guard number.count == googlePlayDigits, number.allSatisfy(\.isDigit) else { return nil }
        let renewal = rest.dropFirst(2)
        guard rest.isEmpty || rest.prefix(2) == [point, point] && (1...4).contains(renewal.count),
            renewal.allSatisfy(\.isDigit)
        else { return nil }
        var (groups, digitsLeft): ([String], ArraySlice<UInt8>) = ([], number)
        while digitsLeft.count > 5 {
            groups.append(String(decoding: digitsLeft.prefix(4), as: UTF8.self))
            digitsLeft.removeFirst(4)
        }
        groups.append(String(decoding: digitsLeft, as: UTF8.self))
        return (
            LedgerTransaction.orderPrefix + groups.joined(separator: "-"), String(decoding: rest, as: UTF8.self)
        )
    }

    /// The order itself, then the purchase to which it belongs, then the renewals.
    fileprivate var ordersOfPurchase: [String] {
        [text, purchase] + (0..<Self.maximumRenewals).map { "\(purchase)..\($0)" }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
    fileprivate var isLetterOrDigit: Bool { isDigit || (0x61...0x7A).contains(self | 0x20) }
}

extension EntitlementService {
    /// The identifier under which the ledger has what a person searches for: the recorded order at Google Play that the text spells, or
    /// else another order of its purchase. It is the text itself if there is none, and for every other text.
    ///
    /// Only a search asks so. What acts on a purchase takes the store's own identifier.
    package func identifier(searchedBy text: String) async throws -> String {
        guard let order = OrderNumber(text), order.store == .playStore else { return text }
        return try await ledger.read { try $0.recorded(order) } ?? text
    }
}

extension LedgerTransaction {
    /// The first order of the same purchase at Google Play that the ledger has, or the purchase of which it is; nil for none.
    fileprivate func recorded(_ order: OrderNumber) throws -> String? {
        let orders = order.ordersOfPurchase
        let redeemed: [String] = try database.rows(
            "SELECT DISTINCT order_id FROM redeemed_transaction WHERE order_id \(database.isIn("$1"))",
            [database.list(eachOf: orders)]
        ) { try $0.next() }
        let parked: [String] = try database.rows(
            "SELECT transaction_id FROM parked_transaction WHERE transaction_id \(database.isIn(packed: "$1"))",
            [database.list(eachPacked: orders)]
        ) { try $0.next() }
        let recorded = Set(redeemed + parked)
        if let found = orders.first(where: { recorded.contains($0) }) { return found }
        guard try database.has("google_line") else { return nil }
        // The transaction of a one-time purchase is named after its token, and before it is redeemed only its line has the order.
        return try database.value(
            """
            SELECT original_name FROM google_line
            WHERE order_id \(database.isIn("$1")) ORDER BY original_name LIMIT 1
            """,
            [database.list(eachOf: orders)])
    }
}
