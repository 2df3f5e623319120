/// The protocol's number of an error.
package enum RevenueCatErrorNumber: Int, CaseIterable, Sendable {
    case storeProblem = 7101
    case cannotTransferPurchase = 7102
    case invalidReceipt = 7103
    case internalError = 7110
    case invalidAuthenticationToken = 7224
    case invalidAPIKey = 7225
    case badRequest = 7226
    case notEligibleForOffer = 7232
    case invalidAppleSubscriptionKey = 7234
    case aliasFailed = 7255
    case invalidUserIdentifier = 7256
    case subscriptionNotFound = 7259
    case attributesInvalid = 7263
    case requestInProgress = 7638
    case productMissingInReceipt = 7712
}
