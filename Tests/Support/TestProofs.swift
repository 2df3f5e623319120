import Proofs

/// Proofs for tests, signed with test chains.
package enum TestProofs {
    package static let bundleIdentifier = "com.memolease.sesac1"
    /// The date of the signatures.
    package static let signedAt = Timestamp(secondsSince1970: 1_780_000_000)

    package static func transactionPayload(
        transactionId: String = "2000000000000001",
        productId: String = "com.memolease.sesac1.sprout1",
        changing changes: [String: JSONValue?] = [:]
    ) -> JSONObject {
        var fields: [(String, JSONValue)] = [
            ("transactionId", .string(transactionId)), ("originalTransactionId", .string(transactionId)),
            ("bundleId", .string(bundleIdentifier)), ("productId", .string(productId)),
            ("purchaseDate", .integer(signedAt.millisecondsSince1970)),
            ("originalPurchaseDate", .integer(signedAt.millisecondsSince1970)), ("quantity", .integer(1)),
            ("type", "Non-Consumable"), ("environment", "Sandbox"),
            ("signedDate", .integer(signedAt.millisecondsSince1970)),
        ]
        for (key, value) in changes {
            fields.removeAll { $0.0 == key }
            if let value { fields.append((key, value)) }
        }
        var object = JSONObject()
        for (key, value) in fields { _ = object.add(key, value) }
        return object
    }

    package static func transaction(
        _ payload: JSONObject = transactionPayload(),
        chain: CertificateChain
    ) throws -> [UInt8] {
        Array(try SignedJSON.sign(.object(payload), with: chain.leaf.key, chain: chain.certificates).utf8)
    }

    /// A notification about a transaction, as the App Store signs it.
    package static func notification(
        _ type: String,
        uuid: String,
        about transaction: JSONObject?,
        signedAt: Timestamp = signedAt,
        with key: PrivateKey,
        chain: [Certificate]
    ) throws -> String {
        var data: JSONObject = ["bundleId": .string(bundleIdentifier), "environment": "Sandbox"]
        if let transaction {
            _ = data.add(
                "signedTransactionInfo", .string(try SignedJSON.sign(.object(transaction), with: key, chain: chain)))
        }
        return try notification(
            type, uuid: uuid, body: ("data", data), signedAt: signedAt, with: key, chain: chain)
    }

    /// A notification with a body, as the App Store signs it.
    package static func notification(
        _ type: String,
        subtype: String? = nil,
        uuid: String,
        body: (name: String, fields: JSONObject),
        signedAt: Timestamp = signedAt,
        with key: PrivateKey,
        chain: [Certificate]
    ) throws -> String {
        var payload: JSONObject = [
            "notificationType": .string(type), "notificationUUID": .string(uuid), "version": "2.0",
            "signedDate": .integer(signedAt.millisecondsSince1970),
        ]
        if let subtype { _ = payload.add("subtype", .string(subtype)) }
        _ = payload.add(body.name, .object(body.fields))
        return try SignedJSON.sign(.object(payload), with: key, chain: chain)
    }

    package static func purchase(
        transactionIdentifier: String = "2000000000000001",
        productIdentifier: String = "com.memolease.sesac1.sprout1"
    ) -> InAppPurchase {
        var purchase = InAppPurchase()
        purchase.productIdentifier = productIdentifier
        purchase.transactionIdentifier = transactionIdentifier
        purchase.originalTransactionIdentifier = transactionIdentifier
        (purchase.purchaseDate, purchase.originalPurchaseDate) = (signedAt, signedAt)
        purchase.productType = .nonConsumable
        return purchase
    }

    package static func receipt(_ purchases: [InAppPurchase] = [purchase()]) -> AppReceipt {
        var receipt = AppReceipt()
        (receipt.receiptType, receipt.bundleIdentifier) = ("ProductionSandbox", bundleIdentifier)
        receipt.applicationVersion = "1"
        (receipt.opaqueValue, receipt.deviceHash) = ([1, 2, 3], [4, 5, 6])
        receipt.creationDate = signedAt
        receipt.inAppPurchases = purchases
        return receipt
    }

    /// The DER of a signed receipt.
    package static func signed(_ receipt: AppReceipt = receipt(), chain: CertificateChain) throws -> [UInt8] {
        try SignedData.sign(receipt.payload(), with: chain.leaf.key, chain: chain.certificates)
    }
}
