import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing

/// The figures of a customer, computed by a reader who has nothing but the export.
@Suite struct ExportedFiguresTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws { fixture = try LedgerFixture() }

    private static let day: Int64 = 86_400
    private static let monthly: [TransactionFact: StatedValue] = [
        .type: .text(ProductType.autoRenewableSubscription.rawValue), .storefront: .text("USA"),
    ]
    private static let trial: [TransactionFact: StatedValue] = [
        .offerType: .integer(1), .offerDiscountType: .text("FREE_TRIAL"),
    ]
    private static let added: [TransactionFact: StatedValue] = [
        .additionalTransactionReason: .text("SEAT_ADDITION")
    ]

    private func sold(
        _ transaction: String, of original: String? = nil, origin: Origin = .localSandbox, product: String = "p",
        from start: Int64, until end: Int64? = nil, price: Int64?, revoked: Int64? = nil, signed: Int64? = nil,
        _ facts: [TransactionFact: StatedValue] = [:]
    ) -> Claim {
        var stated = TransactionFacts(facts)
        if end != nil { for (fact, value) in Self.monthly { stated[fact] = value } }
        stated[.currency] = .text("USD")
        stated[.price] = price.map { .integer($0) }
        if origin.store == .playStore { stated[.orderId] = .text("GPA.\(transaction)") }
        let date = Self.now.adding(days: signed ?? start)
        stated[.signedDate] = .integer(date.millisecondsSince1970)
        return claim(
            transaction, original: original, origin: origin, product: product, bought: Self.now.adding(days: start),
            revoked: revoked.map { Self.now.adding(days: $0) }, signedAt: date,
            expiresAt: end.map { Self.now.adding(days: $0) }, facts: stated)
    }

    private func paidBack(_ amount: Int64, on day: Int64) -> [TransactionFact: StatedValue] {
        [
            .refundedAmount: .integer(amount),
            .refundedAt: .integer(Self.now.adding(days: day).millisecondsSince1970),
        ]
    }

    /// Statements about a customer's purchases, in the order in which they are known.
    private func stories() -> [(name: String, claims: [Claim])] {
        let prorated: [TransactionFact: StatedValue] = [
            .revocationType: .text("REFUND_PRORATED"), .revocationPercentage: .integer(66_660),
        ]
        return [
            (
                "a trial, a payment, a renewal and a refund at the App Store",
                [
                    sold("1", from: 0, until: 7, price: 0, Self.trial),
                    sold("2", of: "1", from: 7, until: 37, price: 4_990),
                    sold("3", of: "1", from: 37, until: 67, price: 4_990),
                    sold("3", of: "1", from: 37, until: 67, price: 4_990, revoked: 47, signed: 47, prorated),
                ]
            ),
            (
                "an upgrade with a prorated refund",
                [
                    sold("1", from: 0, until: 30, price: 4_990),
                    sold("2", of: "1", product: "gold", from: 10, until: 40, price: 9_990),
                    sold(
                        "1", from: 0, until: 30, price: 4_990, revoked: 10, signed: 11,
                        prorated.merging([
                            .isUpgraded: .integer(1),
                            .refundedAt: .integer(Self.now.adding(days: 10).millisecondsSince1970),
                        ]) { $1 }),
                ]
            ),
            (
                "seats that are added",
                [
                    sold("1", from: 0, until: 30, price: 4_990, Self.added),
                    sold("2", of: "1", from: 15, until: 30, price: 2_000, Self.added),
                    sold("3", of: "1", from: 30, until: 60, price: 6_990),
                ]
            ),
            (
                "a resubscription, a shared purchase and a restored one",
                [
                    sold("1", from: 0, until: 30, price: 4_990), sold("2", of: "1", from: 50, until: 80, price: 5_990),
                    sold("7", from: 3, until: 33, price: 4_990, [.inAppOwnershipType: .text("FAMILY_SHARED")]),
                    sold("8", product: "gate", from: 4, price: 990, [.type: .text("Non-Consumable")]),
                    sold("9", of: "8", product: "gate", from: 20, price: 990, [.type: .text("Non-Consumable")]),
                ]
            ),
            (
                "another plan at Google Play before the end of the paid one",
                [
                    sold(
                        "1", of: "t", origin: .localPlayProduction, from: 0, until: 30, price: 4_990,
                        [.recurringPrice: .integer(4_990), .basePlanId: .text("monthly")]),
                    sold(
                        "2", of: "t", origin: .localPlayProduction, product: "gold", from: 10, until: 21, price: 0,
                        [.recurringPrice: .integer(9_990), .basePlanId: .text("m"), .isProrated: .integer(1)]),
                    sold(
                        "3", of: "t", origin: .localPlayProduction, product: "gold", from: 21, until: 51, price: 9_990,
                        [.recurringPrice: .integer(9_990), .basePlanId: .text("m")]),
                    sold(
                        "4", of: "t", origin: .localPlayProduction, product: "gold", from: 30, until: 395,
                        price: 49_990, [.recurringPrice: .integer(49_990), .basePlanId: .text("yearly")]),
                ]
            ),
            (
                "another plan within the trial, and the first payment after it",
                [
                    sold("1", of: "t", origin: .localPlayProduction, from: 0, until: 14, price: 0, Self.trial),
                    sold(
                        "2", of: "t", origin: .localPlayProduction, product: "gold", from: 4, until: 14, price: 0,
                        [.recurringPrice: .integer(9_990), .isProrated: .integer(1)]),
                    sold(
                        "3", of: "t", origin: .localPlayProduction, product: "gold", from: 14, until: 44,
                        price: 9_990, [.recurringPrice: .integer(9_990)]),
                ]
            ),
            (
                "refunds of Google Play: one that leaves the goods, parts of units, an unknown amount",
                [
                    sold("1", of: "t", origin: .localPlayProduction, from: 0, until: 30, price: 4_990),
                    sold(
                        "1", of: "t", origin: .localPlayProduction, from: 0, until: 30, price: 4_990, signed: 5,
                        paidBack(4_990, on: 5)),
                    sold("u", origin: .localPlayProduction, product: "seeds", from: 2, price: 5_000),
                    sold(
                        "u", origin: .localPlayProduction, product: "seeds", from: 2, price: 5_000, signed: 6,
                        paidBack(2_000, on: 6)),
                    sold("v", origin: .localPlayProduction, product: "gate", from: 3, price: nil),
                    sold(
                        "v", origin: .localPlayProduction, product: "gate", from: 3, price: nil, revoked: 8, signed: 8),
                    sold(
                        "2", of: "t", origin: .localPlayProduction, from: 30, until: 60, price: nil,
                        [.recurringPrice: .integer(4_990)]),
                ]
            ),
        ]
    }

    /// The cells of the rows, by their columns.
    private func rows() throws -> [[String: String]] {
        var text = Data()
        _ = try Export.transactions.write(ledger, as: .csv, product: { _ in nil }) { text.append($0) }
        let lines = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline).map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        return lines.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(lines[0], $0)) }
    }

    @Test(arguments: 0..<7) func `each figure follows from the rows of the export`(index: Int) async throws {
        let story = stories()[index]
        for claim in story.claims {
            try await ledger.write {
                _ = try $0.redeem(
                    [claim], for: alice, under: .keep, accepting: [.localSandbox, .localPlayProduction], by: .user,
                    at: Self.now.adding(days: 400))
            }
        }
        let transactions = try await ledger.read { try $0.transactions(of: alice, before: nil, limit: 99) }
        let rows = try rows()
        #expect(rows.count == transactions.withoutRepetitions.count)
        let read = ExportReader(rows)
        let sums = DailyFigures(transactions)
        for (name, values) in read.figures() {
            #expect(values.filter { $0.value != 0 } == sums[name, until: read.lastDay], "\(story.name): \(name)")
        }
        // The money that is left is that of the customer's sum.
        let spent = transactions.spent(inSandbox: false) + transactions.spent(inSandbox: true)
        #expect(spent.reduce(0) { $0 + $1.milliunits } == read.revenueLeft, "\(story.name)")
    }
}

/// The sums of the figures by day.
private struct DailyFigures {
    private var amounts: [FigureMetric: [Int64: Int64]] = [:]

    init(_ transactions: [RedeemedTransaction]) {
        for (key, amount) in UserFigures.sums(of: transactions).amounts {
            amounts[key.metric, default: [:]][key.day.daysSince1970, default: 0] += amount
        }
    }

    /// The sums of a metric, or the level of each day.
    subscript(name: String, until last: Int64) -> [Int64: Int64] {
        guard let metric = FigureMetric(rawValue: name) else { return [:] }
        let sums = (amounts[metric] ?? [:]).filter { $0.value != 0 }
        guard [.trials, .subscriptions, .monthlyRevenue].contains(metric), let first = sums.keys.min() else {
            return sums
        }
        var (levels, level): ([Int64: Int64], Int64) = ([:], 0)
        for day in first...max(first, last) {
            level += sums[day] ?? 0
            if level != 0 { levels[day] = level }
        }
        return levels
    }
}

/// A reader of the export, who knows its columns alone (Documentation/Figures.md).
private struct ExportReader {
    struct Row {
        let original: String
        let quantity: Int64
        let start: Timestamp
        let end: Timestamp?
        let refundedAt: Timestamp?
        let isSubscription, isTrial, isConversion, isSandbox: Bool
        let number: String
        let price, left, monthly: Int64?

        init(_ cells: [String: String]) {
            func text(_ name: String) -> String { cells[name] ?? "" }
            func amount(_ name: String) -> Int64? { Double(text(name)).map { Int64(($0 * 1000).rounded()) } }
            (original, quantity) = (text("original_store_transaction_id"), Int64(text("quantity")) ?? 0)
            start = Timestamp(rfc3339: text("start_time")) ?? Timestamp(secondsSince1970: 0)
            (end, refundedAt) = (
                Timestamp(rfc3339: text("effective_end_time")), Timestamp(rfc3339: text("refunded_at"))
            )
            isSubscription = text("is_auto_renewable") == "true"
            (isTrial, isConversion) = (text("is_trial_period") == "true", text("is_trial_conversion") == "true")
            (isSandbox, number) = (text("is_sandbox") == "true", text("renewal_number"))
            price = amount("purchase_price_in_purchased_currency")
            (left, monthly) = (amount("price_in_purchased_currency"), amount("mrr_in_purchased_currency"))
        }

        var day: Int64 { CalendarDay(start).daysSince1970 }
        var lastDay: Int64 { end.map { CalendarDay($0).daysSince1970 } ?? day }
        /// True for a period that has lasted for some time.
        var hasLasted: Bool { isSubscription && end.map { $0 > start } ?? false }
    }

    private let rows: [Row]

    /// Without the purchases of others.
    init(_ cells: [[String: String]]) {
        rows = cells.filter { !["FAMILY_SHARED", "ASSIGNED"].contains($0["ownership_type"] ?? "") }.map(Row.init)
            .sorted { $0.start < $1.start }
    }

    var lastDay: Int64 { rows.map { max($0.lastDay, $0.day) }.max() ?? 0 }
    private var sales: [Row] { rows.filter { !$0.isTrial } }

    var revenueLeft: Int64 { sales.reduce(0) { $0 + ($1.left ?? $1.price ?? 0) } }

    private func sum(_ rows: [Row], on day: (Row) -> Int64, _ value: (Row) -> Int64) -> [Int64: Int64] {
        rows.reduce(into: [:]) { $0[day($1), default: 0] += value($1) }
    }

    private func refundDay(_ row: Row) -> Int64 { row.refundedAt.map { CalendarDay($0).daysSince1970 } ?? 0 }

    /// The number of purchases, or the sum of their prices, on each day.
    private func level(_ rows: [Row], _ value: ([Row]) -> Int64) -> [Int64: Int64] {
        guard let first = rows.map(\.day).min() else { return [:] }
        return Dictionary(
            uniqueKeysWithValues: (first...lastDay).map { day in
                (day, value(rows.filter { $0.day <= day && day < $0.lastDay }))
            })
    }

    /// The period of the same purchase that ends when one begins.
    private func before(_ row: Row) -> Row? {
        rows.first { $0.original == row.original && $0.hasLasted && $0.end == row.start && $0.number != row.number }
    }

    func figures() -> [String: [Int64: Int64]] {
        let (paid, refunded) = (sales.filter { $0.price != nil }, sales.filter { $0.refundedAt != nil })
        let (trials, periods) = (rows.filter { $0.isTrial && $0.hasLasted }, sales.filter(\.hasLasted))
        let renewals = periods.filter { row in
            before(row).map { !$0.isTrial } ?? false
                && !periods.contains { $0.number == row.number && $0.start < row.start && $0.original == row.original }
        }
        let new = trials.filter { row in before(row).map { !$0.isTrial } ?? true }
        let conversions = rows.filter(\.isConversion)
        let payers = sales.filter { $0.price ?? 0 > 0 }
        return [
            "units": sum(sales, on: \.day, \.quantity), "transactions": sum(sales, on: \.day) { _ in 1 },
            "without_price": sum(sales.filter { $0.price == nil }, on: \.day) { _ in 1 },
            "revenue": sum(paid, on: \.day) { $0.price ?? 0 },
            "refunds": sum(refunded, on: refundDay) { _ in 1 },
            "refunded_transactions": sum(refunded, on: \.day) { _ in 1 },
            "refunded_revenue": sum(refunded.filter { $0.left != nil }, on: refundDay) {
                ($0.price ?? 0) - ($0.left ?? 0)
            },
            "new_customers": sum([false, true].compactMap { flag in rows.first { $0.isSandbox == flag } }, on: \.day) {
                _ in 1
            },
            "payers_new": sum(
                [false, true].compactMap { flag in payers.first { $0.isSandbox == flag } }, on: \.day
            ) { _ in 1 },
            "renewals": sum(renewals, on: \.day) { _ in 1 }, "trials_new": sum(new, on: \.day) { _ in 1 },
            "conversions": sum(conversions, on: \.day) { _ in 1 },
            "converted_trials": sum(
                conversions.compactMap { row in new.last { $0.original == row.original && $0.start < row.start } },
                on: \.day
            ) { _ in 1 },
            "trials": level(trials) { Int64(Set($0.map(\.original)).count) },
            "subscriptions": level(periods) { Int64(Set($0.map(\.original)).count) },
            "mrr": level(periods) { $0.reduce(0) { $0 + ($1.monthly ?? 0) } },
        ]
    }
}
