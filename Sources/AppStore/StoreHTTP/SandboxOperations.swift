import HTTPSupport
import HTTPTypes

extension LocalStoreDescription {
    /// Composed on first use.
    static let appStore: Result<LocalStoreDescription, any Error> = Result {
        try LocalStoreDescription(
            title: "Till, the local App Store",
            "The sandbox API, with which tests play the customer, Apple and time. Apple's own documentation describes the App Store Server API (`/inApps`), the External Purchase Server API (`/externalPurchase`), the Advanced Commerce API (`/advancedCommerce`) and verifyReceipt.",
            errors: PackageResources.Errors_md, operations: APIOperation.all,
            pathParameters: [
                "account": [.path("account", "The App Store account.", .text(length: 1...256)).shared(as: "account")],
                "number": [.path("number", "The number in the payment queue.", .integer()).shared(as: "number")],
                "transaction": [.path("transaction", "Any transaction of the sale.").shared(as: "transaction")],
                "uuid": [.path("uuid", "The notification.", .uuid())],
            ])
    }
}

extension APIOperation {
    fileprivate static let all =
        [
            buy, listProducts, listSubscriptions,
            readAppTransaction, listSales, readReceipt, restore, readFamily, joinFamily, leaveFamily, clearSales,
            deleteSale, readConsumption,
            requestRetentionMessage, judgeSignedRequest, listQueue,
            readSettings, changeSettings, reset, listNotifications, notify,
            addFaults, replay, makeExternalToken, listExternalTokens,
        ] + queueActions.map(\.operation) + saleActions.map(\.operation)

    static let buy = sandbox(
        .post, "purchases", "buy", "Buys a product", body: .json(PurchaseRequest.schema),
        answers: [.json("The transaction of the payment queue.", QueueAnswer.self, status: 201)],
        or: [.notFound, .conflict, .refused])
    static let listProducts = sandbox(
        .get, "products", "listProducts", "Lists the products",
        answers: [.list("The products, in the configuration's order.", "products", of: .product)], or: [.conflict])
    static let listSubscriptions = sandbox(
        .get, "accounts/{account}/subscriptions", "listSubscriptions", "Lists the status of each subscription",
        answers: [.list("The status of subscriptions.", of: StatusResponse.SubscriptionGroupIdentifierItem.self)],
        or: [.conflict])
    static let readAppTransaction = sandbox(
        .get, "accounts/{account}/appTransaction", "readAppTransaction", "Reads the signed app transaction",
        answers: [
            .json(
                "The app transaction.",
                .object("The app, as an account has it.", named: "AppTransaction")
                    .fields(["signedAppTransaction": .text("A JWS.")]))
        ], or: [.conflict])
    static let listSales = sandbox(
        .get, "accounts/{account}/transactions", "listSales", "Lists an account's sales",
        answers: [.list("The sales to an account, in their order.", of: Transaction.self)])
    static let readReceipt = sandbox(
        .get, "accounts/{account}/receipt", "readReceipt", "Reads the app receipt",
        answers: [
            .json(
                "The receipt.",
                .object("An app receipt.", named: "Receipt").fields(["receipt": .text("PKCS #7 in base64.")]))
        ])
    static let restore = sandbox(
        .post, "accounts/{account}/restore", "restore", "Restores purchases",
        answers: [.list(queue, of: QueueAnswer.self)], or: [.conflict])
    static let readFamily = sandbox(
        .get, "accounts/{account}/family", "readFamily", "Reads an account's family",
        answers: [.json("The family.", FamilyResource.self)])
    static let joinFamily = sandbox(
        .post, "accounts/{account}/family", "joinFamily",
        "Lets another account join the family; all present purchases are shared", body: .json(SharingRequest.schema),
        answers: [.json("The family.", FamilyResource.self)], or: [.conflict, .refused])
    static let leaveFamily = sandbox(
        .delete, "accounts/{account}/family", "leaveFamily",
        "Lets an account leave its family; the organizer's leave ends the family",
        answers: [.empty("It is in no family.")], or: [.conflict])
    static let clearSales = sandbox(
        .delete, "transactions", "clearSales", "Deletes all sales and notifications",
        answers: [.empty("They are deleted.")])
    static let deleteSale = sandbox(
        .delete, "transactions/{transaction}", "deleteSale", "Deletes a transaction, or the whole subscription",
        answers: [.empty("It is deleted.")])
    static let readConsumption = sandbox(
        .get, "transactions/{transaction}/consumption", "readConsumption",
        "Reads the developer's consumption information",
        answers: [.json("The information; null if the developer has sent none.", Schema.anyObject.nullable)])
    static let requestRetentionMessage = sandbox(
        .post, "transactions/{transaction}/retentionMessage", "requestRetentionMessage",
        "Asks the developer's server for a retention message",
        body: .json(RetentionRequest.schema, isRequired: false),
        answers: [.json("The request and its answer.", RetentionExchange.self)], or: [.conflict, .refused])
    static let judgeSignedRequest = sandbox(
        .post, "signedRequests", "judgeSignedRequest",
        "Judges a promotional offer, an introductory offer or an Advanced Commerce request that a server has signed",
        body: .json(SignedRequestRequest.schema),
        answers: [.json("The verdict.", SignedRequestVerdict.self)])
    static let listQueue = sandbox(
        .get, "queue", "listQueue", "Lists the payment queue",
        parameters: [.query("account", "Only the payments of this account.")],
        answers: [.list(queue, of: QueueAnswer.self)])

    static let readSettings = sandbox(
        .get, "settings", "readSettings", "Reads the settings", answers: [.json("The settings.", .settings)])
    static let changeSettings = sandbox(
        .patch, "settings", "changeSettings", "Changes settings from now on",
        body: .json(SettingsChanges.schema, isRequired: false), answers: [.json("The settings.", .settings)],
        or: [.refused])
    static let reset = sandbox(
        .post, "reset", "reset", "Clears the sales, the families, the clocks and the settings",
        answers: [.json("The things that were cleared.", ResetResult.self)])

    static let listNotifications = sandbox(
        .get, "notifications", "listNotifications", "Lists the notifications with their attempts",
        answers: [.list("The notifications, the oldest first.", of: StoreNotification.self)])
    static let notify = sandbox(
        .post, "notifications", "notify", "Sends a notification that only a tester brings about",
        body: .json(NotificationRequest.schema),
        answers: [.json("The notification.", StoreNotification.self, status: 201)], or: [.notFound, .refused])
    static let addFaults = sandbox(
        .post, "notifications/faults", "addFaults", "Adds a fault to each of the next notifications",
        body: .json(NotificationFaultsRequest.schema), answers: [.empty("They are added.")])
    static let replay = sandbox(
        .post, "notifications/{uuid}/replay", "replay", "Sends a notification again",
        answers: [.empty("It is sent.")])

    static let makeExternalToken = sandbox(
        .post, "externalPurchaseTokens", "makeExternalPurchaseToken",
        "Makes the token of a purchase outside the App Store",
        body: .json(ExternalTokenRequest.schema, isRequired: false),
        answers: [.json("The token.", ExternalPurchaseToken.self, status: 201)])
    static let listExternalTokens = sandbox(
        .get, "externalPurchaseTokens", "listExternalPurchaseTokens",
        "Lists the tokens of purchases outside the App Store",
        answers: [.list("The tokens, the oldest first.", of: ExternalPurchaseToken.self)])

    static let queueActions = PaymentAction.allCases.map { action in
        let summary =
            switch action {
            case .approve: "Approves a deferred payment"
            case .decline: "Declines a deferred payment"
            case .resolve: "Completes an interrupted payment"
            case .finish: "Finishes the transaction, as the app does"
            }
        let operation = sandbox(
            .post, "queue/{number}/\(action.rawValue)", action.rawValue, summary,
            answers: [.json("The transaction.", QueueAnswer.self)], or: [.conflict])
        return (action: action, operation: operation)
    }

    static let saleActions = TransactionAction.allCases.compactMap { action in
        action.path.map { path in
            let (name, summary) = action.description
            let body: RequestBody? =
                switch action {
                case .requestRefund, .refund: .json(RefundRequest.schema, isRequired: false)
                case .share: .json(SharingRequest.schema)
                case .changeSeats: .json(SeatsRequest.schema)
                case .acceptInvitation: .json(InvitationRequest.schema)
                case .requestPriceIncrease: .json(PriceIncreaseRequest.schema)
                default: nil
                }
            let operation = sandbox(
                .post, "transactions/{transaction}/\(path)", name, summary, body: body,
                answers: [.json("The sale.", Transaction.self)],
                or: action == .share || action == .acceptInvitation ? [.conflict, .refused] : [.conflict])
            return (action: action, operation: operation)
        }
    }

    private static let queue = "The payment queue, in the order of the payments."
}

extension TransactionAction {
    fileprivate var description: (name: String, summary: String) {
        switch self {
        case .requestRefund: (rawValue, "Asks the developer for consumption information")
        case .refund: (rawValue, "Refunds")
        case .declineRefund: (rawValue, "Declines the refund request")
        case .reverseRefund: (rawValue, "Reverses the refund")
        case .share: (rawValue, "Shares the purchase with a family member")
        case .revokeFamilySharing: ("revokeSharing", "Ends the sharing")
        case .forceRenewal: ("renew", "Renews now")
        case .resolveBillingIssue: ("resolveBilling", "Charges the customer after a billing problem")
        case .expire: (rawValue, "Expires now")
        case .turnAutoRenewOff: ("cancel", "Turns automatic renewal off")
        case .turnAutoRenewOn: ("resume", "Turns automatic renewal on")
        case .moveSubscription: (rawValue, "Lets the subscription go on under another original transaction")
        case .changeSeats: (rawValue, "Changes the number of seats: more at once, fewer at the next renewal")
        case .acceptInvitation: (rawValue, "Gives a seat to a member who accepts Apple's invitation")
        case .revokeSeat: (rawValue, "Ends a member's seat")
        case .requestPriceIncrease: ("raisePrice", "Announces a higher price")
        case .consentToPriceIncrease: ("consentToPrice", "Consents to the higher price")
        case .declinePriceIncrease: ("refusePrice", "Refuses the higher price")
        case .failRenewal, .delete: (rawValue, title)
        }
    }
}
