extension RevenueCatErrorRule {
    /// The rules by Till's error code. A test compares the codes with the page of errors.
    package static let byCode: [String: RevenueCatErrorRule] = {
        var rules: [String: RevenueCatErrorRule] = [:]
        for (number, safety, codes) in groups {
            for code in codes { rules[code] = RevenueCatErrorRule(number: number, safety: safety) }
        }
        return rules
    }()

    private static let groups: [(RevenueCatErrorNumber, Safety, [String])] = [
        // Proofs that the store has not signed, or that somebody has changed.
        (
            .invalidReceipt, .notSigned,
            [
                "encodingInvalid", "containerInvalid", "tooManyCertificates", "algorithmNotAllowed",
                "signerCertificateMissing", "chainShape", "appleExtensionMissing", "signatureInvalid",
            ]
        ),
        (.invalidReceipt, .noPurchase, ["notRedeemable"]),
        (.cannotTransferPurchase, .keptByOwner, ["ownedByAnotherUser"]),

        // A later transfer may be allowed. The other user may not have redeemed the purchase yet.
        (.cannotTransferPurchase, .sentAgain, ["transferTooSoon"]),
        (.cannotTransferPurchase, .sentAgainUntilLogIn, ["appAccountTokenMismatch"]),

        // Genuine purchases may be among them: after a correction, a new proof or a new version of Till redeems them.
        (
            .invalidReceipt, .sentAgainUntilConfigured,
            [
                "chainUntrusted", "originNotAccepted", "bundleIdentifierMismatch", "environmentMismatch",
                "productUnknown",
            ]
        ),
        (
            .invalidReceipt, .sentAgain,
            [
                "chainOutsideValidity", "transactionConflict", "tooLarge", "tooManyPurchases", "payloadInvalid",
                "signedInFuture",
                "certificateRevoked",
                "revocationUnavailable",
            ]
        ),
        (.invalidReceipt, .doesNotOccur, ["innerProofInvalid", "deviceMismatch", "noNotification"]),

        // Callers.
        (
            .invalidAPIKey, .sentAgainUntilConfigured,
            [
                "unauthenticated", "keyInvalid", "keyRequired", "publicKeyRequired", "scopeMissing", "appForbidden",
                "appRequired",
            ]
        ),
        (.invalidAuthenticationToken, .doesNotOccur, ["tokenInvalid", "tokenExpired", "tokenRequired"]),
        (.internalError, .doesNotOccur, ["tokenKeysUnavailable"]),
        (.invalidUserIdentifier, .sentAgainUntilLogIn, ["userInvalid"]),
        (.invalidUserIdentifier, .sentAgain, ["userNotFound"]),
        // The door of cordova-plugin-purchase logs customers in while it validates a proof.
        (.aliasFailed, .sentAgain, ["customerTooLarge"]),

        // Requests and limits.
        (
            .badRequest, .sentAgain,
            [
                "notFound", "methodNotAllowed", "httpError", "headInvalid", "bodyInvalid", "bodyTooLarge",
                "parameterInvalid",
            ]
        ),
        (.internalError, .sentAgain, ["tooManyRequests", "tooManyAttempts", "tooBusy"]),
        (.requestInProgress, .doesNotOccur, ["idempotencyKeyInUse"]),
        (.badRequest, .doesNotOccur, ["idempotencyKeyInvalid", "idempotencyKeyReused"]),

        // The service and its ledger.
        (
            .internalError, .sentAgain,
            [
                "internalError", "storageAlmostFull", "storageDiskFull", "storageReadOnly", "storageBusy",
                "storageDamaged", "storageCannotOpen", "storageOtherVersion", "storageMissing", "storageUnreachable",
                "storageFailed", "storageStopped", "catalogInvalid",
            ]
        ),
        (
            .storeProblem, .sentAgain,
            ["appStoreUnreachable", "appStoreRefused", "appStoreAnswerInvalid", "appStoreCancelled"]
        ),
        (.invalidAppleSubscriptionKey, .sentAgainUntilConfigured, ["appStoreKeyInvalid", "signingFailed"]),
        (.internalError, .sentAgainUntilConfigured, ["keysUnreadable", "doorClosed"]),

        // Other features.
        (.subscriptionNotFound, .doesNotOccur, ["subscriptionNotFound"]),
        (
            .internalError, .doesNotOccur,
            [
                "productNotFound", "pictureNotFound", "itemUnknown", "endPassed", "grantNotFound",
                "transactionNotFound", "transactionUnknown", "unclaimedPurchaseNotFound", "transactionAmbiguous",
                "balanceUnknown", "balanceTooLow", "appAccountTokenSet", "appAccountTokenTaken",
                "quantityOutOfRange", "notificationNotFound", "storefrontNotFound", "accountInvalid",
                "storeKitError", "notPurchased", "illegalTransition", "invalidAction", "emailInvalid",
                "emailTooLong", "emailTaken", "passwordTooShort", "passwordTooLong", "passwordTooCommon",
                "passwordLikeEmail", "credentialsWrong", "passwordWrong", "refreshTokenInvalid",
                "refreshTokenExpired", "refreshTokenReused", "accountNotFound", "linkInvalid", "linkExpired",
                "emailVerified", "emailUnchanged", "mailTooOften", "passwordNotHashed", "nicknameTooShort",
                "nicknameTooLong", "nicknameHasDigit", "nicknameCharacterForbidden", "itemNotOwned",
                "webhookURLInvalid", "webhookAddressPrivate", "webhooksTooMany", "webhookNotFound",
                "webhookMessageNotFound", "webhookSecretBeingReplaced", "productInvalid", "productTypeFixed",
                "productsTooMany", "mediaTypeUnsupported", "formInvalid", "pictureInvalid", "pictureOfNoItem",
                "picturesTooLarge", "productBenefitFixed", "productChanged", "exportUnknown", "figureUnknown",
                "figureTimeInvalid", "figurePointsTooMany", "figureBreakdownUnknown", "attributeNameInvalid",
                "attributeValueInvalid", "attributesTooMany", "rightInvalid", "rightNotFound", "rightsTooMany",
                "offeringInvalid", "offeringNotFound", "offeringsTooMany", "definitionChanged",
            ]
        ),
    ]
}
