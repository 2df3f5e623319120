/// An error of the endpoints of the Advanced Commerce API, with its number and message (Advanced Commerce API, "Error messages and
/// codes"). Those that the App Store Server API has, too, are `ServerAPIError`.
package enum AdvancedCommerceError: Int, ServerAPIRefusal, CaseIterable {
    case invalidCurrency = 4_000_053
    case nullRequestInfo = 4_000_079
    case nullRequestReferenceID = 4_000_080
    case invalidRequestReferenceID = 4_000_081
    case invalidConsistencyToken = 4_000_082
    case negativePrice = 4_000_086
    case skuLengthExceeded = 4_000_087
    case descriptionLengthExceeded = 4_000_088
    case displayNameLengthExceeded = 4_000_089
    case repeatedRequestReferenceId = 4_000_097
    case nullTaxCode = 4_000_099
    case nullItems = 4_000_101
    case nullDescriptors = 4_000_103
    case nullSKU = 4_000_105
    case nullDisplayName = 4_000_106
    case nullDescription = 4_000_107
    case nullPrice = 4_000_109
    case nullEffective = 4_000_111
    case invalidProductChanges = 4_000_115
    case invalidDisplayName = 4_000_118
    case invalidDescription = 4_000_119
    case invalidProduct = 4_000_121
    case invalidSKU = 4_000_122
    case invalidRefundType = 4_000_123
    case invalidRefundReason = 4_000_124
    case invalidTaxProductCode = 4_000_127
    case mismatchedStorefront = 4_000_133
    case operationNotAllowed = 4_000_135
    case nullRefundAmount = 4_000_153
    case negativeRefundAmount = 4_000_154
    case refundAmountWithoutCustom = 4_000_155
    case nullRefundReason = 4_000_156
    case nullRefundType = 4_000_157
    case simulateRefundDeclineOnlyInSandbox = 4_000_158
    case nullRefundRisking = 4_000_159
    case atLeastOneItem = 4_000_160
    case atLeastOneOfDisplayNameOrDescription = 4_000_165
    case nullTargetProductID = 4_000_166
    case invalidTargetProductID = 4_000_167
    case removalAllNotAllowed = 4_000_168
    case nullCurrentSKU = 4_000_169
    case malformedPayload = 4_000_173
    case subscriptionAlreadyMigrated = 4_000_176
    case pendingChangesMismatch = 4_000_180
    case pendingRefund = 4_000_181
    case proratedOnlyLatestTransaction = 4_000_182
    case partialSimulateRefundDecline = 4_000_184
    case revokeOnInactiveSubscription = 4_000_186
    case dependentSKUsCannotBeShared = 4_000_192
    case dependentSKUsCannotBeChained = 4_000_193
    case itemCannotBeSpecifiedMultipleTimes = 4_000_194
    case priceChangeCannotBeIssuedWhenAlreadyCommunicated = 4_000_205
    case invalidSKUProvidedMustBeCurrentSKUSetToRenew = 4_000_220
    case priceIncreaseIsNotCurrentlySupportedInIndia = 4_000_221
    case subscriptionDoesNotExist = 4_030_008
    case subscriptionAlreadyExists = 4_030_009
    case subscriptionNotEligible = 4_030_010
    case productNotOwned = 4_030_013
    case inactiveACASub = 4_030_015
    case insufficientFunds = 4_030_020
    case alreadyRefunded = 4_030_021
    case transactionNotRefundable = 4_030_024
    case migrationNotAllowedWhenPriceIncreaseCommunicated = 4_030_027

    package var number: Int { rawValue }

    package var message: String {
        switch self {
        case .invalidCurrency: "The currency value is invalid."
        case .nullRequestInfo: Self.missing("requestInfo")
        case .nullRequestReferenceID: Self.missing("requestReferenceId")
        case .invalidRequestReferenceID: "The requestReferenceId value is invalid."
        case .invalidConsistencyToken: "The consistencyToken value is invalid."
        case .negativePrice: "The price field must contain a positive number."
        case .skuLengthExceeded: "Exceeds the maximum length of the SKU field."
        case .descriptionLengthExceeded: "Exceeds the maximum length of the description field."
        case .displayNameLengthExceeded: "Exceeds the maximum length of the displayName field."
        case .repeatedRequestReferenceId: "The requestReferenceId was repeated."
        case .nullTaxCode: Self.missing("taxCode")
        case .nullItems: Self.missing("items")
        case .nullDescriptors: Self.missing("descriptors")
        case .nullDisplayName: Self.missing("displayName")
        case .nullDescription: Self.missing("description")
        case .nullTargetProductID: Self.missing("targetProductID")
        case .invalidTargetProductID: "The targetProductID value is invalid."
        case .subscriptionAlreadyMigrated: "The subscription was already migrated."
        case .pendingChangesMismatch:
            "Pending subscription changes must specify a renewalItem, and if there are no pending changes, a renewalItem cannot be specified."
        case .subscriptionAlreadyExists: "The subscription already exists."
        case .migrationNotAllowedWhenPriceIncreaseCommunicated:
            "Migration isn't allowed because a price increase was already communicated to the customer."
        case .nullSKU: Self.missing("SKU")
        case .nullPrice: Self.missing("price")
        case .nullEffective: Self.missing("effective")
        case .invalidProductChanges: "Product changes are invalid."
        case .invalidDisplayName: "The displayName is invalid."
        case .invalidDescription: "The description is invalid."
        case .invalidProduct: "The requested product to change doesn't exist."
        case .invalidSKU: "The SKU was invalid."
        case .invalidRefundType: "The refundType is invalid."
        case .invalidRefundReason: "The refundReason is invalid."
        case .invalidTaxProductCode: "The taxCode is invalid."
        case .mismatchedStorefront: "The storefronts mismatch."
        case .operationNotAllowed: "The operation isn't allowed."
        case .nullRefundAmount: "The refundAmount value is invalid."
        case .negativeRefundAmount: "The refundAmount must be a positive number."
        case .refundAmountWithoutCustom: "Can't provide the refund amount because the refundType isn't CUSTOM."
        case .nullRefundReason: Self.missing("refundReason")
        case .nullRefundType: Self.missing("refundType")
        case .simulateRefundDeclineOnlyInSandbox: "The type SIMULATE_REFUND_DECLINE is only valid in Sandbox."
        case .nullRefundRisking: Self.missing("refundRiskingPreference")
        case .atLeastOneItem: "When included, provide at least one item in items."
        case .atLeastOneOfDisplayNameOrDescription: "Provide either the displayName or a description."
        case .removalAllNotAllowed:
            "The active subscription must contain at least one item and cannot be completely empty."
        case .nullCurrentSKU: Self.missing("currentSKU")
        case .malformedPayload: "The payload is malformed."
        case .pendingRefund: "The transaction has pending refunds."
        case .proratedOnlyLatestTransaction:
            "Only requests against the latest transaction can have a PRORATED refundType value."
        case .partialSimulateRefundDecline:
            "If one item has a refundReason value of SIMULATE_REFUND_DECLINE, all items must have a refundReason value of SIMULATE_REFUND_DECLINE."
        case .revokeOnInactiveSubscription: "Only active subscriptions are revocable."
        case .dependentSKUsCannotBeShared: "Invalid request. dependentSKUs can't be shared between multiple SKUs."
        // Apple publishes the number and the name alone.
        case .dependentSKUsCannotBeChained: "Invalid request. dependentSKUs can't be chained."
        case .itemCannotBeSpecifiedMultipleTimes: "The same SKU can't be repeated in this request."
        case .priceChangeCannotBeIssuedWhenAlreadyCommunicated:
            "A price change can't be issued when the price increase has already been communicated."
        case .invalidSKUProvidedMustBeCurrentSKUSetToRenew:
            "SKU values provided in request must be a SKU that will renew."
        case .priceIncreaseIsNotCurrentlySupportedInIndia: "A price increase is not currently supported in India."
        case .subscriptionDoesNotExist: "The subscription doesn't exist."
        case .subscriptionNotEligible: "The subscription isn't eligible for the requested changes."
        case .productNotOwned: "The customer doesn't own the product."
        case .inactiveACASub: "The subscription is not active."
        case .insufficientFunds: "Insufficient funds for refund."
        case .alreadyRefunded: "The transaction was already refunded."
        case .transactionNotRefundable: "The transaction is not refundable."
        }
    }

    private static func missing(_ field: String) -> String { "The required field, \(field), is missing." }
}
