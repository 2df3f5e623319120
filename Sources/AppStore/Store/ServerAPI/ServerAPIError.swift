import Foundation
import Proofs

/// An error of the App Store Server API, with its number and message (App Store Server API, "Error codes").
///
/// No request causes some of them: the store answers these only while `StoreSettings.serverAPIError` has their number.
package enum ServerAPIError: Int, ServerAPIRefusal, CaseIterable {
    case generalBadRequest = 4_000_000
    case invalidAppIdentifier = 4_000_002
    case invalidRequestRevision = 4_000_005
    case invalidTransactionId = 4_000_006
    case invalidOriginalTransactionId = 4_000_008
    case invalidExtendByDays = 4_000_009
    case invalidExtendReasonCode = 4_000_010
    case invalidRequestIdentifier = 4_000_011
    case startDateTooFarInPast = 4_000_012
    case startDateAfterEndDate = 4_000_013
    case invalidPaginationToken = 4_000_014
    case invalidStartDate = 4_000_015
    case invalidEndDate = 4_000_016
    case paginationTokenExpired = 4_000_017
    case invalidNotificationType = 4_000_018
    case multipleFiltersSupplied = 4_000_019
    case invalidTestNotificationToken = 4_000_020
    case invalidSort = 4_000_021
    case invalidProductType = 4_000_022
    case invalidProductId = 4_000_023
    case invalidSubscriptionGroupIdentifier = 4_000_024
    case invalidExcludeRevoked = 4_000_025
    case invalidInAppOwnershipType = 4_000_026
    case invalidEmptyStorefrontCountryCodeList = 4_000_027
    case invalidStorefrontCountryCode = 4_000_028
    case invalidRevoked = 4_000_030
    case invalidStatus = 4_000_031
    case invalidAccountTenure = 4_000_032
    case invalidAppAccountToken = 4_000_033
    case invalidConsumptionStatus = 4_000_034
    case invalidCustomerConsented = 4_000_035
    case invalidDeliveryStatus = 4_000_036
    case invalidLifetimeDollarsPurchased = 4_000_037
    case invalidLifetimeDollarsRefunded = 4_000_038
    case invalidPlatform = 4_000_039
    case invalidPlayTime = 4_000_040
    case invalidSampleContentProvided = 4_000_041
    case invalidUserStatus = 4_000_042
    case invalidTransactionNotConsumable = 4_000_043
    case invalidRefundPreference = 4_000_044
    case invalidTransactionTypeNotSupported = 4_000_047
    case appTransactionIdNotSupported = 4_000_048
    case invalidImage = 4_000_161
    case headerTooLong = 4_000_162
    case bodyTooLong = 4_000_163
    case invalidLocale = 4_000_164
    case altTextTooLong = 4_000_175
    case invalidAppAccountTokenUUID = 4_000_183
    case familyTransactionNotSupported = 4_000_185
    case transactionIdNotOriginalTransactionId = 4_000_187
    case consumptionPercentageAutoRenewableSubscription = 4_000_209
    case invalidPerformanceTestRequest = 4_000_211
    case invalidRequestId = 4_000_212
    case existingPerformanceTestRun = 4_000_213
    case badRequestRealtimeUrl = 4_000_215
    case badRequestImageSize = 4_000_216
    case badRequestTooManyBulletPoints = 4_000_218
    case badRequestBulletPointTextTooLong = 4_000_219
    case badRequestAboveImageRequiresAnImage = 4_000_224
    case subscriptionExtensionIneligible = 4_030_004
    case subscriptionMaxExtension = 4_030_005
    case familySharedSubscriptionExtensionIneligible = 4_030_007
    case maximumNumberOfImagesReached = 4_030_014
    case maximumNumberOfMessagesReached = 4_030_016
    case messageNotApproved = 4_030_017
    case imageNotApproved = 4_030_018
    case imageInUse = 4_030_019
    case forbiddenNoPassingTest = 4_030_026
    case accountNotFound = 4_040_001
    case accountNotFoundRetryable = 4_040_002
    case appNotFound = 4_040_003
    case appNotFoundRetryable = 4_040_004
    case originalTransactionIdNotFound = 4_040_005
    case originalTransactionIdNotFoundRetryable = 4_040_006
    case serverNotificationUrlNotFound = 4_040_007
    case testNotificationNotFound = 4_040_008
    case statusRequestNotFound = 4_040_009
    case transactionIdNotFound = 4_040_010
    case imageNotFound = 4_040_014
    case messageNotFound = 4_040_015
    case performanceTestRunNotFound = 4_040_018
    case appTransactionDoesNotExist = 4_040_019
    case defaultMessageNotFound = 4_040_020
    case realtimeUrlNotFound = 4_040_021
    case imageAlreadyExists = 4_090_000
    case messageAlreadyExists = 4_090_001
    case rateLimitExceeded = 4_290_000
    case generalInternal = 5_000_000
    case generalInternalRetryable = 5_000_001

    package var number: Int { rawValue }

    /// Apple's message, as far as its pages name it.
    package var message: String {
        let reason: String
        switch self {
        case .invalidSort, .invalidProductType, .invalidProductId, .invalidSubscriptionGroupIdentifier,
            .invalidExcludeRevoked, .invalidRevoked, .invalidStatus:
            reason = "The \(subject) parameter is invalid."
        case .invalidAccountTenure, .invalidConsumptionStatus, .invalidDeliveryStatus,
            .invalidLifetimeDollarsPurchased, .invalidLifetimeDollarsRefunded, .invalidPlatform,
            .invalidSampleContentProvided, .invalidUserStatus, .invalidRefundPreference:
            reason = "The \(subject) field is invalid."
        case .startDateTooFarInPast: reason = "The start date is earlier than the allowed start date."
        case .startDateAfterEndDate: reason = "The end date precedes the start date or the dates are the same."
        case .invalidPaginationToken: reason = "The pagination token is invalid."
        case .invalidStartDate: reason = "The start date is not a timestamp value represented in milliseconds."
        case .invalidEndDate: reason = "The end date is not a timestamp value represented in milliseconds."
        case .paginationTokenExpired: reason = "The pagination token is expired."
        case .invalidNotificationType: reason = "The notification type or subtype is invalid."
        case .multipleFiltersSupplied: reason = "Supply either a transaction id or a notification type, but not both."
        case .invalidTestNotificationToken: reason = "The test notification token is invalid."
        case .invalidInAppOwnershipType: reason = "The in-app ownership type parameter is invalid."
        case .invalidEmptyStorefrontCountryCodeList:
            reason = "If provided, the list of storefront country codes must not be empty."
        case .invalidStorefrontCountryCode: reason = "A storefront country code was invalid."
        case .invalidAppAccountToken:
            reason = "The app account token field must contain a valid UUID or an empty string."
        case .invalidCustomerConsented:
            reason = "The customer consented field is required and must indicate the customer consented."
        case .invalidPlayTime: reason = "The playtime field is invalid."
        case .invalidTransactionNotConsumable:
            reason = "The transaction id doesn't represent a consumable in-app purchase."
        case .invalidTransactionTypeNotSupported:
            reason = "The transaction id doesn't represent a supported in-app purchase type."
        case .appTransactionIdNotSupported: reason = "App transactions aren't supported by this endpoint."
        case .invalidImage: reason = "The image is invalid."
        case .invalidLocale: reason = "Locale is invalid."
        case .familyTransactionNotSupported: reason = "Family Sharing transactions aren't supported by this endpoint."
        case .consumptionPercentageAutoRenewableSubscription:
            reason =
                "The consumption percentage field is not supported for auto-renewable subscription transactions."
        case .badRequestRealtimeUrl: reason = "The url is invalid."
        case .badRequestImageSize: reason = "The image's size is invalid."
        case .badRequestTooManyBulletPoints: reason = "The number of bullet points is too many."
        case .generalBadRequest: return "Bad request."
        case .invalidExtendByDays: return "Invalid extend by days value."
        case .subscriptionExtensionIneligible: return "Forbidden - subscription state ineligible for extension."
        case .subscriptionMaxExtension: return "Forbidden - subscription has reached maximum extension count."
        case .familySharedSubscriptionExtensionIneligible:
            return "Subscriptions that users obtain through Family Sharing can't get a renewal date extension directly."
        case .serverNotificationUrlNotFound:
            return "No App Store Server Notification URL found for provided app. "
                + "Check that a URL is configured in App Store Connect for this environment."
        case .testNotificationNotFound:
            return "Either the test notification token is expired or the notification and status are not yet available."
        case .statusRequestNotFound:
            return "The server didn't find a subscription-renewal-date extension request for this requestIdentifier "
                + "and productId combination."
        case .accountNotFoundRetryable: return "Account not found. Please try again."
        case .appNotFoundRetryable: return "App not found. Please try again."
        case .originalTransactionIdNotFoundRetryable: return "Original transaction id not found. Please try again."
        case .forbiddenNoPassingTest: return "Forbidden - no passing performance test."
        case .generalInternal: return "An unknown error occurred."
        case .generalInternalRetryable: return "An unknown error occurred. Please try again."
        // Most of these are Apple's messages, such as "Transaction id not found." Some messages are not published.
        default: return words.prefix(1).uppercased() + words.dropFirst() + "."
        }
        return "Invalid request. " + reason
    }

    /// The words of the name: `transaction id not found` for `transactionIdNotFound`.
    private var words: String {
        var words = ""
        for character in "\(self)" {
            if character.isUppercase {
                if words.last?.isUppercase != true, words.last != " " { words += " " }
                words += character.lowercased()
            } else {
                words.append(character)
            }
        }
        return words
    }

    /// The words of the name without `invalid`.
    private var subject: Substring { words.dropFirst("invalid ".count) }
}

/// An error that the App Store's server answers with a number and a message.
package protocol ServerAPIRefusal: Error {
    var number: Int { get }
    var message: String { get }
}

extension ServerAPIRefusal {
    /// The first three digits of the number.
    var httpStatus: Int { number / 10_000 }

    var body: ServerAPIRefusalBody { ServerAPIRefusalBody(errorCode: number, errorMessage: message) }
}

struct ServerAPIRefusalBody: Encodable {
    let errorCode: Int
    let errorMessage: String
}

extension String {
    /// The text as a UUID in lower case; Apple's clients use both cases.
    func uuid(orThrow error: ServerAPIError) throws(ServerAPIError) -> String {
        guard let uuid = UUID(uuidString: self) else { throw error }
        return uuid.lowercasedString
    }
}
