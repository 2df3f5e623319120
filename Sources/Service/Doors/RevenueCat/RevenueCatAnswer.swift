import Catalog
import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Vocabulary

/// An answer with the headers that the SDKs read.
package enum RevenueCatAnswer {
    static let requestTimeName = HTTPField.Name("X-RevenueCat-Request-Time")

    /// Returns an answer with its entity tag, or 304 without a body if the SDK has stored the answer.
    package static func response(
        _ json: JSONValue, for request: Request, at moment: Timestamp, status: HTTPResponse.Status = .ok
    ) -> Response {
        let bytes = JSONAnswer.encode(json)
        return response(tag: entityTag(of: bytes), for: request, at: moment, status: status) { bytes }
    }

    /// Returns customer info with its entity tag, or 304 in the same way.
    ///
    /// - Parameters:
    ///   - attributeErrors: The attributes of the request that are not recorded.
    ///   - consumption: For each bought product at Google Play, true if the SDK is to consume it.
    ///   - status: 201 for a new customer.
    package static func response(
        _ info: RenderedCustomerInfo, attributeErrors: [AttributeFailure] = [], consumption: [ByteKey: Bool] = [:],
        for request: Request, at moment: Timestamp, status: HTTPResponse.Status = .ok
    ) -> Response {
        // The same customer info may follow purchases of different products.
        var tag = info.tag
        if !consumption.isEmpty {
            let products = consumption.sorted { $0.key < $1.key }.map { "\($0.key.text) \($0.value)" }
            tag = entityTag(of: Array(([tag] + products).joined(separator: "\n").utf8))
        }
        return response(tag: tag, for: request, at: moment, status: status) {
            info.json(at: moment, attributeErrors: attributeErrors, consumption: consumption)
        }
    }

    /// The SDK sends an empty tag if it has stored none. Then 304 would leave it without an answer.
    private static func response(
        tag: String, for request: Request, at moment: Timestamp, status: HTTPResponse.Status, _ json: () -> [UInt8]
    ) -> Response {
        var headers = HTTPFields()
        headers.reserveForAnswer()
        if let name = HTTPField.Name.revenueCatEntityTag { headers[name] = tag }
        if let requestTimeName { headers[requestTimeName] = String(moment.millisecondsSince1970) }
        if let name = HTTPField.Name.revenueCatEntityTag, status == .ok, request.headers[name] == tag {
            return Response(status: .notModified, headers: headers)
        }
        return JSONAnswer.response(bytes: json(), status: status, headers: headers)
    }

    /// The entity tag of content: 16 hexadecimal digits.
    static func entityTag(of content: [UInt8]) -> String {
        var digest = SHA256State()
        digest.update(content[...])
        return entityTag(of: digest)
    }

    static func entityTag(of digest: SHA256State) -> String { digest.hexadecimal(ofFirst: 8) }
}

/// The members of customer info. A missing value is null.
extension AnswerJSON {
    mutating func text(_ name: StaticString, _ text: String?) {
        self.name(name)
        if let text { string(text) } else { append("null") }
    }

    /// Appends a date in UTC with whole seconds: `2026-11-24T12:00:00Z`.
    mutating func date(_ name: StaticString, _ date: Timestamp?) {
        self.name(name)
        if let date { string(date) } else { append("null") }
    }

    mutating func flag(_ name: StaticString, _ flag: Bool) {
        self.name(name)
        append(flag ? "true" : "false")
    }

    /// Appends an amount in major units with its currency.
    mutating func price(_ name: StaticString, _ price: Price?) {
        self.name(name)
        guard let price else { return append("null") }
        object { json in
            json.name("amount")
            json.append(JSONNumber(thousandths: price.milliunits))
            json.text("currency", price.currency)
        }
    }

    /// Appends an object with the members that `write` appends.
    mutating func object(_ write: (inout AnswerJSON) -> Void) {
        append("{")
        write(&self)
        append("}")
    }

    /// Appends an object with a member for each key, in the order of the keys' bytes.
    mutating func members<Value>(
        _ name: StaticString, _ values: [ByteKey: Value], _ write: (Value, inout AnswerJSON) -> Void
    ) {
        self.name(name)
        append("{")
        for (index, (key, value)) in values.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { append(",") }
            string(key.text)
            append(":")
            write(value, &self)
        }
        append("}")
    }

    mutating func list<Value>(_ values: ArraySlice<Value>, _ write: (Value, inout AnswerJSON) -> Void) {
        append("[")
        for (index, value) in values.enumerated() {
            if index > 0 { append(",") }
            write(value, &self)
        }
        append("]")
    }
}

/// Values of the protocol's answers. A missing value is null.
extension JSONValue {
    static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    /// An object with a member for each key, in the order of the keys' bytes.
    static func members<Value>(_ values: [ByteKey: Value], _ json: (Value) -> JSONValue) -> JSONValue {
        var object = JSONObject()
        for (key, value) in values.sorted(by: { $0.key < $1.key }) { _ = object.add(key.text, json(value)) }
        return .object(object)
    }
}

/// The reason why an attribute is not recorded.
package struct AttributeFailure: Hashable, Sendable {
    package let name: String
    let message: String
}

extension [AttributeFailure] {
    var json: JSONValue {
        .array(map { .object(["key_name": .string($0.name), "message": .string($0.message)]) })
    }
}

/// The answer of `POST /v1/subscribers/{user}/intro_eligibility`.
///
/// A customer gets one introductory offer in each subscription group.
package struct IntroEligibility: Hashable, Sendable {
    /// The eligibility for each product; nil for a product that is no subscription of the catalog.
    package let products: [ByteKey: Bool?]

    /// - Parameter groups: The subscription group of each subscription of the catalog.
    package init(_ products: [String], of transactions: [RedeemedTransaction], groups: [ByteKey: String]) {
        let used = transactions.filter { transaction in
            let terms = PurchasePeriod.Terms(transaction.facts)
            return terms.isTrial || terms.isIntroductory
        }
        let usedGroups = Set(
            used.compactMap { transaction in
                (transaction.facts.text(.subscriptionGroupIdentifier) ?? groups[ByteKey(transaction.productIdentifier)])
                    .map { ByteKey($0) }
            })
        var eligibility: [ByteKey: Bool?] = [:]
        for product in products {
            let group = groups[ByteKey(product)]
            eligibility[ByteKey(product)] = .some(group.map { !usedGroups.contains(ByteKey($0)) })
        }
        self.products = eligibility
    }

    package var json: JSONValue { .members(products) { $0.map { .bool($0) } ?? .null } }
}

extension Catalog {
    var subscriptionGroups: [ByteKey: String] {
        var groups: [ByteKey: String] = [:]
        for product in products {
            groups[ByteKey(product.productIdentifier)] = product.subscription?.groupIdentifier
        }
        return groups
    }
}

extension [RightSources] {
    /// The answer of `GET /v1/product_entitlement_mapping`, from which an app computes entitlements without the service: the
    /// identifiers of the rights of each product, in their order.
    ///
    /// A subscription of Google Play has an entry for each base plan, named `PRODUCT:PLAN` (`ProductEntitlementMappingTest` of
    /// purchases-android). The SDK knows no plan of a purchase on the device: it takes rights and plan from the entry of the product
    /// alone (`PurchasedProductsFetcher`), which names a plan only if there is one.
    ///
    /// - Parameter basePlans: Those of each product, for an SDK on Android.
    package func productEntitlementMapping(basePlans: [ByteKey: [String]] = [:]) -> JSONValue {
        var byProduct: [ByteKey: [String]] = [:]
        for right in self {
            for product in right.products { byProduct[product, default: []].append(right.name) }
        }
        var (ofProducts, ofPlans): ([ByteKey: JSONValue], [ByteKey: JSONValue]) = ([:], [:])
        for (product, rights) in byProduct {
            func entry(_ plan: String?) -> JSONValue {
                .object([
                    "entitlements": .array(rights.map { .string($0) }), "product_identifier": .string(product.text),
                    "base_plan_id": plan.map { .string($0) },
                ])
            }
            let plans = basePlans[product, default: []]
            ofProducts[product] = entry(plans.count == 1 ? plans.first : nil)
            for plan in plans { ofPlans[ByteKey("\(product.text):\(plan)")] = entry(plan) }
        }
        return .object([
            "product_entitlement_mapping": .members(ofProducts.merging(ofPlans) { product, _ in product }) { $0 }
        ])
    }
}

extension [Offering] {
    /// The base plans that the packages name, by their products of Google Play, in the order of their names.
    package var basePlans: [ByteKey: [String]] {
        var plans: [ByteKey: Set<ByteKey>] = [:]
        for package in flatMap(\.packages) {
            // A one-time product, or a subscription that is sold in the App Store alone.
            guard let plan = package.googlePlay?.basePlanIdentifier else { continue }
            plans[ByteKey(package.playProductIdentifier), default: []].insert(ByteKey(plan))
        }
        return plans.mapValues { $0.sorted().map(\.text) }
    }
}

extension [Credit] {
    /// The answer of `GET /v1/subscribers/{user}/virtual_currencies`: the customer's balances.
    package var virtualCurrencies: JSONValue {
        var currencies = JSONObject()
        for credit in self {
            _ = currencies.add(
                credit.balance,
                .object([
                    "balance": .integer(credit.amount), "code": .string(credit.balance),
                    "name": .string(credit.balance),
                ]))
        }
        return .object(["virtual_currencies": .object(currencies)])
    }
}

/// The answers of endpoints that the SDK asks for features that Till does not have.
package enum RevenueCatStub {
    /// The answer of attribution, events, diagnostics and attributes.
    package static let accepted: JSONValue = .object([:])
    /// The answer of `GET /v1/subscribers/{user}/health_report_availability`.
    package static let healthReportAvailability: JSONValue = .object(["report_logs": .bool(false)])
    /// The answer of `POST /v1/subscribers/{user}/restore/eligibility`.
    package static let restoreEligibility: JSONValue = .object(["is_purchase_allowed_by_restore_behavior": .bool(true)])
}

/// The answer of `GET /v1/subscribers/{user}/offerings`.
package enum RevenueCatOfferings {
    /// The offerings of an app, with the packages whose products are for sale.
    ///
    /// - Parameter isAndroid: True for an SDK on Android, which sells the products and base plans of Google Play.
    static func json(of catalog: Catalog, isAndroid: Bool) -> JSONValue {
        json(
            current: catalog.currentOffering,
            catalog.offerings.map { ($0, catalog.packagesForSale(of: $0, isAndroid: isAndroid)) },
            isAndroid: isAndroid)
    }

    /// - Parameter current: Nil if no offering is current.
    package static func json(
        current: Offering?, _ offerings: [(Offering, packages: [Offering.Package])], isAndroid: Bool = false
    ) -> JSONValue {
        .object([
            "current_offering_id": .text(current?.identifier),
            "offerings": .array(
                offerings.map { offering, packages in
                    .object([
                        "description": .string(offering.description),
                        "identifier": .string(offering.identifier),
                        "metadata": offering.metadata.members.isEmpty ? .null : .object(offering.metadata),
                        "packages": .array(
                            packages.map { package in
                                let plan = isAndroid ? package.googlePlay?.basePlanIdentifier : nil
                                return .object([
                                    "identifier": .string(package.identifier),
                                    "platform_product_identifier": .string(
                                        isAndroid ? package.playProductIdentifier : package.productIdentifier),
                                    "platform_product_plan_identifier": plan.map { .string($0) },
                                ])
                            }),
                    ])
                }),
        ])
    }
}

/// The answer of `POST /v1/offers`: the promotional offers that an app asks for, each with its signature or the reason for none.
extension OfferRequest {
    /// - Parameters:
    ///   - catalog: The app's catalog, which has the offers.
    ///   - signer: Nil if the service has no key for the app.
    /// - Throws: The error of a key that cannot sign.
    package func answer(
        from catalog: Catalog,
        signedBy signer: StoreClients.OfferSigner?,
        at moment: Timestamp
    ) throws -> JSONValue {
        // The SDK sets the account token of a purchase only to an id that is a UUID.
        let token = UUID(uuidString: user)?.uuidString ?? ""
        let answers = try offers.map { offer in
            var json: JSONObject = [
                "offer_id": .string(offer.identifier), "product_id": .string(offer.productIdentifier),
            ]
            func refuse(_ number: RevenueCatErrorNumber, _ message: String) {
                _ = json.add(
                    "signature_error", .object(["code": .integer(number.rawValue), "message": .string(message)]))
            }
            let known = catalog.product(offer.productIdentifier)?.subscription?.offers ?? []
            if signer == nil {
                refuse(.invalidAppleSubscriptionKey, "The service has no key for the app. Set app-store-key.")
            } else if !known.contains(where: {
                $0.kind == .promotional && $0.identifier?.hasSameBytes(as: offer.identifier) ?? false
            }) {
                refuse(.notEligibleForOffer, "The catalog has no offer \"\(offer.identifier)\" of this product.")
            } else if let signature = try signer?(offer.productIdentifier, offer.identifier, token, moment) {
                _ = json.add("key_id", .string(signature.keyIdentifier))
                let data: JSONObject = [
                    "nonce": .string(signature.nonce.lowercasedString), "signature": .string(signature.signature),
                    "timestamp": .integer(signature.timestamp.millisecondsSince1970),
                ]
                _ = json.add("signature_data", .object(data))
            }
            return JSONValue.object(json)
        }
        return .object(["offers": .array(answers)])
    }
}
