import Catalog
import Entitlements
import Foundation
import Proofs
import Vocabulary

/// The rules about what a row of an export may do. They are pure: they use no ledger and no clock.
///
/// Nobody gets an item by a purchase in the file: the customer awaits its proof. A promotion is the team's own decision.
package struct ExportRules: Sendable {
    /// The present catalog of the app.
    let catalog: Catalog
    let origin: Origin
    /// The ids that stand for no customer.
    let blockedNames: BlockedNames
    /// The time of the import.
    let moment: Timestamp

    /// The effect of a row.
    package struct Decision: Hashable, Sendable {
        package var grants: [PromisedItem] = []
        /// Nil if the row causes no expectation.
        package var purchase: ExpectedPurchase?
        /// The reasons for the parts that are not imported.
        package var exclusions: [ExportExclusion] = []
        /// True if the customer is imported, too.
        var isOfCustomer = true
        /// Nil if the row has none, or one that stands for no customer.
        package var alias: CustomerIdentifier?
    }

    package func decision(about row: ExportRow) -> Decision {
        var decision = Decision()
        guard row.isSandbox == origin.isSandbox else {
            decision.exclusions = [row.isSandbox ? .sandboxNotAccepted : .productionNotAccepted]
            decision.isOfCustomer = false
            return decision
        }
        guard !blockedNames.contains(row.customer.text) else {
            decision.exclusions = [.blockedCustomer]
            decision.isOfCustomer = false
            return decision
        }
        switch row.store {
        case "promotional": promise(row, &decision)
        case "app_store", "mac_app_store":
            if let exclusion = exclusion(of: row) {
                decision.exclusions = [exclusion]
            } else {
                decision.purchase = ExpectedPurchase(
                    app: catalog.bundleIdentifier, origin: origin,
                    originalTransactionIdentifier: row.originalTransactionIdentifier,
                    productIdentifier: row.productIdentifier, purchaseDate: row.startTime, expiresAt: row.endTime)
            }
        default: decision.exclusions = [.otherStore(row.store)]
        }
        if let alias = row.alias, blockedNames.contains(alias.text) {
            decision.exclusions.append(.blockedAlias)
        } else {
            decision.alias = row.alias
        }
        return decision
    }

    private func exclusion(of row: ExportRow) -> ExportExclusion? {
        guard let product = catalog.product(row.productIdentifier),
            catalog.benefit(of: row.productIdentifier) != nil
        else { return .productUnknown }
        // The other server's app has delivered it. Its proof would deliver it again.
        guard product.type != .consumable else { return .consumable }
        guard !row.isRefunded else { return .refunded }
        return row.originalTransactionIdentifier.isEmpty ? .transactionMissing : nil
    }

    private func promise(_ row: ExportRow, _ decision: inout Decision) {
        if row.isRefunded {
            decision.exclusions = [.refunded]
            return
        }
        if let endTime = row.endTime, endTime <= moment {
            decision.exclusions = [.promotionEnded]
            return
        }
        if row.entitlements.isEmpty { decision.exclusions = [.rightUnknown] }
        for name in row.entitlements {
            guard let right = catalog.right(name) else {
                decision.exclusions.append(.rightUnknown)
                continue
            }
            guard let item = item(giving: right, of: row) else {
                decision.exclusions.append(.rightWithoutItem)
                continue
            }
            decision.grants.append(
                PromisedItem(
                    identifier: Self.identifier(row, right, item), item: item,
                    reason: "Imported from RevenueCat: \(right.name)", endsAt: row.endTime))
        }
    }

    /// The item that gives a right and the fewest rights that were not promised; the first of several.
    private func item(giving right: Right, of row: ExportRow) -> Item? {
        let promised = Set(row.entitlements.map { ByteKey($0) })
        func surplus(_ item: Item) -> Int {
            catalog.rights.count { $0.items.contains(item) && !promised.contains(ByteKey($0.name)) }
        }
        return right.items.enumerated().min { (surplus($0.element), $0.offset) < (surplus($1.element), $1.offset) }?
            .element
    }

    /// The identifier of the grant of a promotion: a UUID (RFC 9562, version 8) that follows from the row, so that a second
    /// import finds the grant.
    private static func identifier(_ row: ExportRow, _ right: Right, _ item: Item) -> String {
        let end = row.endTime.map { String($0.millisecondsSince1970) } ?? ""
        let parts = [row.customer.text, right.name, item.description, String(row.startTime.millisecondsSince1970), end]
        var digest = DigestAlgorithm.sha256.digest(of: Array(parts.joined(separator: "\u{0}").utf8))
        digest[6] = digest[6] & 0x0F | 0x80
        digest[8] = digest[8] & 0x3F | 0x80
        return UUID(digits: digest.prefix(16).hexadecimal)?.uuidString.lowercased() ?? ""
    }
}

extension Catalog {
    /// The rules for the import of an export of the app's customers.
    package func exportRules(
        accepting origin: Origin, blocking blockedNames: BlockedNames = .standard, at moment: Timestamp
    ) -> ExportRules {
        ExportRules(catalog: self, origin: origin, blockedNames: blockedNames, moment: moment)
    }
}

/// The reason why a record of an export is not imported.
package enum ExportExclusion: Hashable, Sendable {
    case otherStore(String)
    /// A row of a sandbox, and the accepted origin is one of production.
    case sandboxNotAccepted
    /// A row of production, and the accepted origin is a sandbox.
    case productionNotAccepted
    case productUnknown
    case consumable
    case refunded
    case transactionMissing
    case promotionEnded
    case rightUnknown
    case rightWithoutItem
    case attributeInvalid
    case attributesTooMany
    /// Another row, with a later start, names another customer for the purchase.
    case otherCustomerInFile
    /// Another customer owns the purchase, or an earlier import expects it for another customer.
    case otherCustomerInLedger
    case aliasOfOtherCustomer
    /// The customer's id stands for no customer, such as "null".
    case blockedCustomer
    case blockedAlias

    /// The stable name, for programs.
    package var code: String { rule.code }

    package var sentence: String { rule.sentence }

    private var rule: (code: String, sentence: String) {
        switch self {
        case .otherStore(let store): ("store_\(store)", "Purchases of \(store), which Till does not verify.")
        case .sandboxNotAccepted:
            ("sandboxNotAccepted", "Rows of a sandbox. Import them with --accept apple/Sandbox.")
        case .productionNotAccepted:
            ("productionNotAccepted", "Rows of production. Import them with --accept apple/Production.")
        case .productUnknown: ("productUnknown", "Products that the catalog does not have.")
        case .consumable: ("consumable", "Consumables, which were delivered already.")
        case .refunded: ("refunded", "Refunded purchases.")
        case .transactionMissing: ("transactionMissing", "Purchases without an original transaction.")
        case .promotionEnded: ("promotionEnded", "Promotions that have ended.")
        case .rightUnknown: ("rightUnknown", "Promotions of rights that Offerings.json does not have.")
        case .rightWithoutItem:
            ("rightWithoutItem", "Promotions of rights that products alone give. Add an item to the right.")
        case .attributeInvalid: ("attributeInvalid", "Attributes with invalid names or values.")
        case .attributesTooMany:
            ("attributesTooMany", "Customers with too many attributes. None of theirs was imported.")
        case .otherCustomerInFile:
            ("otherCustomerInFile", "Purchases that a later row of the file assigns to another customer.")
        case .otherCustomerInLedger:
            ("otherCustomerInLedger", "Purchases that another customer has proved, or that an earlier import expects.")
        case .aliasOfOtherCustomer: ("aliasOfOtherCustomer", "Ids that belong to other customers already.")
        case .blockedCustomer: ("blockedCustomer", "Rows of ids that stand for no customer, such as null and guest.")
        case .blockedAlias: ("blockedAlias", "Ids beside a customer's own that stand for no customer.")
        }
    }
}
