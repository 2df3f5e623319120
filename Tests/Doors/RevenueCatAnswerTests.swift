import Catalog
import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The answers beside customer info, and the entity tags.
@Suite struct RevenueCatAnswerTests {
    private typealias Fixture = CustomerInfoFixture

    private func expectForm(_ json: JSONValue, _ schema: String) throws {
        let schema = try JSONSchema(named: schema)
        #expect(try schema.violations(in: json) == [])
        for mutation in try schema.mutations(of: json) {
            #expect(try !schema.violations(in: mutation.instance).isEmpty, "\(mutation.path)")
        }
    }

    @Test func `offerings contain packages in the catalog's order`() throws {
        let usual = try Offering(
            [
                "description": "The usual", "metadata": .object(["color": "green"]),
                "packages": .array([
                    .object(["identifier": "$rc_monthly", "productID": "garden.monthly"]),
                    .object(["identifier": "seeds", "productID": "garden.seeds"]),
                ]),
            ], identifiedBy: "default")
        let empty = try Offering(["description": "", "packages": .array([])], identifiedBy: "empty")
        let list = RevenueCatOfferings.json(current: usual, [usual, empty].map { ($0, $0.packages) })
        #expect(
            list.compactText == """
                {"current_offering_id":"default","offerings":[{"description":"The usual","identifier":"default",\
                "metadata":{"color":"green"},"packages":[{"identifier":"$rc_monthly",\
                "platform_product_identifier":"garden.monthly"},{"identifier":"seeds",\
                "platform_product_identifier":"garden.seeds"}]},{"description":"","identifier":"empty",\
                "metadata":null,"packages":[]}]}
                """)
        try expectForm(list, "Offerings")
        let none = RevenueCatOfferings.json(current: nil, [])
        #expect(none.compactText == #"{"current_offering_id":null,"offerings":[]}"#)
        #expect(try JSONSchema(named: "Offerings").violations(in: none) == [])
    }

    @Test func `on Android, packages have the products and base plans of Google Play`() throws {
        func package(_ identifier: String, _ googlePlay: JSONValue?) -> JSONValue {
            .object(["identifier": .string(identifier), "productID": "garden.monthly", "googlePlay": googlePlay])
        }
        let offering = try Offering(
            [
                "description": "",
                "packages": .array([
                    package("$rc_monthly", .object(["productID": "garden", "basePlanID": "monthly"])),
                    package("$rc_annual", .object(["basePlanID": "yearly"])),
                    package("seeds", .object(["productID": "seeds"])), package("gate", nil),
                ]),
            ], identifiedBy: "default")
        let packages = [(offering, packages: offering.packages)]
        let android = RevenueCatOfferings.json(current: offering, packages, isAndroid: true)
        #expect(
            android.compactText.contains(
                """
                "packages":[{"identifier":"$rc_monthly","platform_product_identifier":"garden",\
                "platform_product_plan_identifier":"monthly"},{"identifier":"$rc_annual",\
                "platform_product_identifier":"garden.monthly","platform_product_plan_identifier":"yearly"},\
                {"identifier":"seeds","platform_product_identifier":"seeds"},{"identifier":"gate",\
                "platform_product_identifier":"garden.monthly"}]
                """))
        try expectForm(android, "Offerings")
        let apple = RevenueCatOfferings.json(current: offering, packages)
        #expect(!apple.compactText.contains("plan") && !apple.compactText.contains("\"garden\""))
    }

    @Test func `the mapping lists the rights of each product`() throws {
        let mapping = [
            RightSources(name: "premium", products: ["garden.yearly", "garden.monthly"], items: []),
            RightSources(name: "tools", products: ["garden.yearly", "garden.yearly"], items: []),
        ].productEntitlementMapping()
        #expect(
            mapping.compactText == """
                {"product_entitlement_mapping":{"garden.monthly":{"entitlements":["premium"],\
                "product_identifier":"garden.monthly"},"garden.yearly":{"entitlements":["premium","tools"],\
                "product_identifier":"garden.yearly"}}}
                """)
        try expectForm(mapping, "ProductEntitlementMapping")
    }

    /// The form of `ProductEntitlementMappingTest` of purchases-android.
    @Test func `on Android, the mapping lists each base plan, and a product's only plan beside the product`() throws {
        func package(_ number: Int, _ googlePlay: JSONValue?) -> JSONValue {
            .object([
                "identifier": .string("\(number)"), "productID": "garden.monthly", "googlePlay": googlePlay,
            ])
        }
        let offerings = try [[1, 2], [3, 4, 5]].map { numbers in
            try Offering(
                [
                    "description": "",
                    "packages": .array(
                        numbers.map { number in
                            package(
                                number,
                                [
                                    .object(["productID": "garden", "basePlanID": "yearly"]),
                                    .object(["productID": "garden", "basePlanID": "monthly"]),
                                    .object(["basePlanID": "p1m"]),
                                    .object(["productID": "garden", "basePlanID": "yearly"]),
                                    .object(["productID": "seeds"]),
                                ][number - 1])
                        }),
                ], identifiedBy: "offering\(numbers.count)")
        }
        let plans = offerings.basePlans
        #expect(plans == [ByteKey("garden"): ["monthly", "yearly"], ByteKey("garden.monthly"): ["p1m"]])
        let rights = [
            RightSources(name: "premium", products: ["garden", "garden.monthly", "seeds", "garden:yearly"], items: [])
        ]
        let mapping = rights.productEntitlementMapping(basePlans: plans)
        func entry(_ product: String, _ plan: String? = nil) -> String {
            let plan = plan.map { ",\"base_plan_id\":\"\($0)\"" } ?? ""
            return "{\"entitlements\":[\"premium\"],\"product_identifier\":\"\(product)\"\(plan)}"
        }
        let entries = [
            ("garden", entry("garden")), ("garden.monthly", entry("garden.monthly", "p1m")),
            ("garden.monthly:p1m", entry("garden.monthly", "p1m")), ("garden:monthly", entry("garden", "monthly")),
            // A product of this name stays itself.
            ("garden:yearly", entry("garden:yearly")), ("seeds", entry("seeds")),
        ].map { "\"\($0)\":\($1)" }.joined(separator: ",")
        #expect(mapping.compactText == "{\"product_entitlement_mapping\":{\(entries)}}")
        try expectForm(mapping, "ProductEntitlementMapping")
        #expect(!rights.productEntitlementMapping().compactText.contains("plan"))
    }

    @Test func `an offer has a signature or an error`() throws {
        let nonce = try #require(UUID(uuidString: "AEA2714D-37CB-4A40-B3FA-3A39CF2AC4ED"))
        let offers =
            #"[{"offer_id":"spring","product_id":"garden.basic.monthly"},"#
            + #"{"offer_id":"free","product_id":"garden.basic.yearly"}]"#
        let request = try OfferRequest(Array(#"{"app_user_id":"alice","generate_offers":\#(offers)}"#.utf8))
        let catalog = try TestGarden().catalog
        let moment = Timestamp(millisecondsSince1970: 1_646_761_777_900)
        let answer = try request.answer(
            from: catalog,
            signedBy: { product, offer, token, moment in
                #expect((product, offer, token) == ("garden.basic.monthly", "spring", ""))
                return PromotionalOfferSignature(
                    keyIdentifier: "KEY", nonce: nonce, timestamp: moment, signature: "MEUC")
            }, at: moment)
        #expect(
            answer.compactText == """
                {"offers":[{"offer_id":"spring","product_id":"garden.basic.monthly","key_id":"KEY","signature_data":{\
                "nonce":"aea2714d-37cb-4a40-b3fa-3a39cf2ac4ed","signature":"MEUC","timestamp":1646761777900}},\
                {"offer_id":"free","product_id":"garden.basic.yearly","signature_error":{"code":7232,\
                "message":"The catalog has no offer \\"free\\" of this product."}}]}
                """)
        try expectForm(answer, "SignedOffers")
        let unsigned = try request.answer(from: catalog, signedBy: nil, at: moment)
        #expect(unsigned.compactText.contains(#""code":7234,"message":"The service has no key for the app."#))
    }

    @Test func `a customer gets one introductory offer in each group`() throws {
        var fixture = Fixture()
        fixture.subscribe("garden.monthly", from: -30, to: 1, facts: [.isTrialPeriod: .integer(1)])
        fixture.subscribe("garden.tools", original: "2", from: 1, to: 31)
        let eligibility = IntroEligibility(
            ["garden.monthly", "garden.yearly", "garden.tools", "garden.gate"], of: fixture.facts.transactions,
            groups: ["garden.monthly": "garden", "garden.yearly": "garden", "garden.tools": "tools"])
        #expect(
            eligibility.json.compactText
                == #"{"garden.gate":null,"garden.monthly":false,"garden.tools":true,"garden.yearly":false}"#)
        try expectForm(eligibility.json, "IntroEligibility")
    }

    @Test func `the stubs have the forms that satisfy the SDK`() throws {
        #expect(try JSONSchema(named: "Accepted").violations(in: RevenueCatStub.accepted) == [])
        try expectForm([Credit]().virtualCurrencies, "VirtualCurrencies")
        try expectForm(RevenueCatStub.healthReportAvailability, "HealthReportAvailability")
        try expectForm(RevenueCatStub.restoreEligibility, "RestoreEligibility")
    }

    private func response(
        _ info: CustomerInfo,
        tag: String?,
        status: HTTPResponse.Status = .ok
    ) throws -> Response {
        let name = try #require(HTTPField.Name("X-RevenueCat-ETag"))
        var head = HTTPRequest(method: .get, scheme: "http", authority: "till", path: "/v1/subscribers/alice")
        head.headerFields[name] = tag
        return RevenueCatAnswer.response(
            RenderedCustomerInfo(info), for: Request(head: head, body: RequestBody(buffer: ByteBuffer())),
            at: info.facts.requestDate,
            status: status)
    }

    @Test func `an unchanged answer is 304 to an SDK that has it`() throws {
        var fixture = Fixture()
        fixture.subscribe(from: 1, to: 11)
        let name = try #require(HTTPField.Name("X-RevenueCat-ETag"))
        let time = try #require(HTTPField.Name("X-RevenueCat-Request-Time"))
        let first = try response(fixture.info, tag: "")
        #expect(first.status == .ok)
        let tag = try #require(first.headers[name])
        #expect(first.headers[time] == "1799582400000")

        fixture.facts.requestDate = Fixture.now.adding(seconds: 60)
        let second = try response(fixture.info, tag: tag)
        #expect(second.status == .notModified)
        #expect(second.headers[name] == tag)
        #expect(second.headers[time] == "1799582460000")
        #expect(second.headers[.contentType] == nil)
        #expect(try response(fixture.info, tag: nil).status == .ok)
        #expect(try response(fixture.info, tag: "other").status == .ok)
        #expect(try response(fixture.info, tag: tag, status: .created).status == .created)
    }

    @Test func `an answer changes when a subscription ends or a purchase is added`() throws {
        var fixture = Fixture()
        fixture.subscribe(from: 1, to: 11)
        let tag = RenderedCustomerInfo(fixture.info).tag
        fixture.facts.requestDate = Fixture.day(12)
        #expect(RenderedCustomerInfo(fixture.info).tag != tag)
        fixture.facts.requestDate = Fixture.now
        #expect(RenderedCustomerInfo(fixture.info).tag == tag)
        fixture.buy(Fixture.gate, on: 2)
        #expect(RenderedCustomerInfo(fixture.info).tag != tag)
    }
}
