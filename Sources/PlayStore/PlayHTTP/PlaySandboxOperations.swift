import HTTPSupport
import HTTPTypes

extension LocalStoreDescription {
    /// Composed on first use.
    static let play: Result<LocalStoreDescription, any Error> = Result {
        try LocalStoreDescription(
            title: "Till, the local Google Play",
            "The sandbox API, with which tests play the customer, Google and time. Google's own documentation describes the Play Developer API (`/androidpublisher/v3`).",
            errors: PackageResources.Errors_md, operations: APIOperation.all,
            pathParameters: [
                "number": [
                    .path("number", "The number in the list of purchases or of notifications.", .integer())
                        .shared(as: "number")
                ],
                "package": [.path("package", "The package name of the app.").shared(as: "package")],
            ])
    }
}

extension APIOperation {
    fileprivate static let all =
        [
            buy, listPurchases, readPurchase, completePurchase, cancelPurchase, refundPurchase, subscribe,
            listSubscriptions, readSubscription, listNotifications, setReceiver, sendTestNotification,
            addNotificationFaults, replay, listFaults, addFault, clearFaults, dispute, listDisputes, makeExternalToken,
            listExternalApps, addExternalApp, listMethods,
            readApp,
            addApp, makeServiceAccount, reset,
        ] + subscriptionActions.map(\.operation)

    static let buy = sandbox(
        .post, "purchases", "buy", "Buys a one-time product", body: .json(PlayPurchaseRequest.schema),
        answers: [.json("The purchase.", PlayPurchaseResource.self, status: 201)],
        or: [.notFound, .conflict, .refused])
    static let listPurchases = sandbox(
        .get, "purchases", "listPurchases", "Lists the purchases, the newest first", parameters: [account],
        answers: [.list("The purchases.", of: PlayPurchaseResource.self)])
    static let readPurchase = purchase(.get, "", "readPurchase", "Reads a purchase")
    static let completePurchase = purchase(.post, "/complete", "completePurchase", "Completes a pending payment")
    static let cancelPurchase = purchase(.post, "/cancel", "cancelPurchase", "Cancels a pending payment")
    static let refundPurchase = purchase(
        .post, "/refund", "refundPurchase", "Refunds units of a purchase",
        body: .json(PlayRefundRequest.schema, isRequired: false))

    static let subscribe = sandbox(
        .post, "subscriptions", "subscribe", "Buys a subscription", body: .json(PlaySubscriptionRequest.schema),
        answers: [.json("The subscription.", PlaySubscriptionResource.self, status: 201)],
        or: [.notFound, .conflict, .refused])
    static let listSubscriptions = sandbox(
        .get, "subscriptions", "listSubscriptions", "Lists the subscriptions, the newest first",
        parameters: [account], answers: [.list("The subscriptions.", of: PlaySubscriptionResource.self)])
    static let readSubscription = sandbox(
        .get, "subscriptions/{number}", "readSubscription", "Reads a subscription",
        answers: [.json("The subscription.", PlaySubscriptionResource.self)])

    static let subscriptionActions = SubscriptionAction.allCases.map { action in
        let operation = sandbox(
            .post, "subscriptions/{number}/\(action.rawValue)", "\(action.rawValue)Subscription", action.summary,
            body: action.body,
            answers: [.json("The subscription.", PlaySubscriptionResource.self)], or: [.conflict])
        return (action: action, operation: operation)
    }

    static let listNotifications = sandbox(
        .get, "notifications", "listNotifications", "Lists the notifications, the newest first",
        answers: [.list("The notifications.", of: PlayNotificationResource.self)])
    static let setReceiver = sandbox(
        .put, "notifications/push", "setReceiver", "Sets the receiver of notifications",
        body: .json(PushRequest.schema, isRequired: false),
        answers: [
            .json(
                "The receiver.",
                .object("A receiver of notifications.", named: "Receiver")
                    .fields(["endpoint": .text("The address; absent if nobody is notified.").optional]))
        ])
    static let sendTestNotification = sandbox(
        .post, "notifications/test", "sendTestNotification", "Sends the test notification of the Play Console",
        body: .json(TestNotificationRequest.schema),
        answers: [
            .json(
                "The app.", .object("An app.", named: "App").fields(["packageName": .text("The app.")]), status: 201)
        ], or: [.notFound])
    static let addNotificationFaults = sandbox(
        .post, "notifications/faults", "addNotificationFaults", "Adds a fault to each of the next notifications",
        body: .json(NotificationFaultsRequest.schema),
        answers: [.json("All faults.", FaultsAnswer.self, status: 201)])
    static let replay = sandbox(
        .post, "notifications/{number}/replay", "replay", "Sends a notification again",
        answers: [
            .json(
                "The message.",
                .object("A message.", named: "Message").fields(["messageId": .text("Its number.")]))
        ], or: [.conflict])

    static let listFaults = sandbox(
        .get, "faults", "listFaults", "Lists the faults", answers: [.json("All faults.", FaultsAnswer.self)])
    static let addFault = sandbox(
        .post, "faults", "addFault", "Lets the next calls of the Play Developer API fail",
        body: .json(CallFaultRequest.schema), answers: [.json("All faults.", FaultsAnswer.self, status: 201)],
        or: [.conflict])
    static let clearFaults = sandbox(
        .delete, "faults", "clearFaults", "Clears the faults of calls and notifications",
        answers: [.json("All faults.", FaultsAnswer.self)])

    static let dispute = sandbox(
        .post, "disputes", "dispute", "Disputes the payment of an order, as the customer's bank does",
        body: .json(DisputeRequest.schema),
        answers: [.json("The dispute.", PlayDisputeResource.self, status: 201)], or: [.notFound, .conflict])
    static let listDisputes = sandbox(
        .get, "disputes", "listDisputes", "Lists the disputes, the newest first",
        answers: [.list("The disputes.", of: PlayDisputeResource.self)])

    static let makeExternalToken = sandbox(
        .post, "externalTransactionTokens", "makeExternalTransactionToken",
        "Makes the token that an app gets before its customer buys outside Google's billing",
        body: .json(ExternalTokenRequest.schema),
        answers: [.json("The token.", PlayExternalTokenResource.self, status: 201)], or: [.notFound])
    static let listExternalApps = sandbox(
        .get, "externalApps", "listExternalApps", "Lists the apps outside Google Play that were registered",
        answers: [.list("The apps.", of: PlayExternalAppResource.self)])
    static let addExternalApp = sandbox(
        .post, "externalApps", "addExternalApp",
        "Registers an app outside Google Play, to whose download links lead, or changes its category",
        body: .json(ExternalAppRequest.schema),
        answers: [.json("The app.", PlayExternalAppResource.self, status: 201)], or: [.notFound])

    static let listMethods = sandbox(
        .get, "methods", "listMethods", "Lists the methods of the Play Developer API that the Play serves",
        answers: [
            .json(
                "The methods.",
                .object("The methods.", named: "Methods").fields(["methods": .array(of: .text("Google's identifier."))])
            )
        ])
    static let readApp = app(.get, "readApp", "Reads the licensing key of an app")
    static let addApp = app(.put, "addApp", "Adds an app without products, unless the Play has it")
    static let makeServiceAccount = sandbox(
        .post, "service-accounts", "makeServiceAccount", "Makes a service account",
        body: .json(ServiceAccountRequest.schema, isRequired: false),
        answers: [.json("The key file, in Google's form.", .map(of: .text()))], or: [.notFound])
    static let reset = sandbox(
        .post, "reset", "reset",
        "Clears the purchases, the external transactions, the disputes, the faults and the clocks",
        answers: [
            .json(
                "The things that were cleared.",
                .object("The things that were cleared.", named: "Reset")
                    .fields(["purchases": .integer("The number of purchases and subscriptions.")]))
        ])

    private static let account = Parameter.query("account", "Only those of this account.")

    private static func purchase(
        _ method: HTTPRequest.Method, _ path: String, _ name: String, _ summary: String, body: RequestBody? = nil
    ) -> APIOperation {
        sandbox(
            method, "purchases/{number}\(path)", name, summary, body: body,
            answers: [.json("The purchase.", PlayPurchaseResource.self)],
            or: method == .get ? [] : [.conflict, .refused])
    }

    private static func app(_ method: HTTPRequest.Method, _ name: String, _ summary: String) -> APIOperation {
        sandbox(
            method, "apps/{package}", name, summary,
            answers: [
                .json(
                    "The app.",
                    .object("An app with its key.", named: "LicensedApp").fields([
                        "packageName": .text("The app."),
                        "licensingKey": .text("The key as the Play Console shows it, in base64."),
                    ]))
            ])
    }
}

extension SubscriptionAction {
    fileprivate var body: RequestBody? {
        switch self {
        case .pause: .json(PauseRequest.schema, isRequired: false)
        case .cancel: .json(CancellationRequest.schema, isRequired: false)
        default: nil
        }
    }

    fileprivate var summary: String {
        switch self {
        case .complete: "Completes a pending payment"
        case .cancel: "Ends the renewals, or a pending payment"
        case .restore: "Takes the end of the renewals back"
        case .acceptPrice: "Agrees to a price increase"
        case .acceptStepUp: "Consents to the price after an offer, in a region that requires it"
        case .resubscribe: "Renews an expired subscription in the Play itself"
        case .declinePayments: "Declines the customer's payments from now on"
        case .acceptPayments: "Accepts the customer's payments again, and charges what is owed"
        case .pause: "Pauses from the next renewal on"
        case .resume: "Ends a pause"
        case .refund: "Refunds the latest period, and ends the access"
        case .chargeback: "Charges the latest period back, and ends the access"
        }
    }
}
