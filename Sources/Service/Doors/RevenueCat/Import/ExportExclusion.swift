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
    package var code: String {
        switch self {
        case .otherStore(let store): "store_\(store)"
        case .sandboxNotAccepted: "sandboxNotAccepted"
        case .productionNotAccepted: "productionNotAccepted"
        case .productUnknown: "productUnknown"
        case .consumable: "consumable"
        case .refunded: "refunded"
        case .transactionMissing: "transactionMissing"
        case .promotionEnded: "promotionEnded"
        case .rightUnknown: "rightUnknown"
        case .rightWithoutItem: "rightWithoutItem"
        case .attributeInvalid: "attributeInvalid"
        case .attributesTooMany: "attributesTooMany"
        case .otherCustomerInFile: "otherCustomerInFile"
        case .otherCustomerInLedger: "otherCustomerInLedger"
        case .aliasOfOtherCustomer: "aliasOfOtherCustomer"
        case .blockedCustomer: "blockedCustomer"
        case .blockedAlias: "blockedAlias"
        }
    }

    /// A sentence for a person.
    package var sentence: String {
        switch self {
        case .otherStore(let store): "Purchases of \(store), which Till does not verify."
        case .sandboxNotAccepted: "Rows of a sandbox. Import them with --accept apple/Sandbox."
        case .productionNotAccepted: "Rows of production. Import them with --accept apple/Production."
        case .productUnknown: "Products that the catalog does not have."
        case .consumable: "Consumables, which were delivered already."
        case .refunded: "Refunded purchases."
        case .transactionMissing: "Purchases without an original transaction."
        case .promotionEnded: "Promotions that have ended."
        case .rightUnknown: "Promotions of rights that Offerings.json does not have."
        case .rightWithoutItem: "Promotions of rights that products alone give. Add an item to the right."
        case .attributeInvalid: "Attributes with invalid names or values."
        case .attributesTooMany: "Customers with too many attributes. None of theirs was imported."
        case .otherCustomerInFile: "Purchases that a later row of the file assigns to another customer."
        case .otherCustomerInLedger: "Purchases that another customer has proved, or that an earlier import expects."
        case .aliasOfOtherCustomer: "Ids that belong to other customers already."
        case .blockedCustomer: "Rows of ids that stand for no customer, such as null and guest."
        case .blockedAlias: "Ids beside a customer's own that stand for no customer."
        }
    }
}
