import Catalog
import Foundation
import Proofs
import TestSupport
import Testing

/// Xcode's own files.
@Suite struct StoreKitConfigurationTests {
    /// The lists of products in a file.
    private struct Root: Decodable {
        struct Product: Decodable {}

        struct Group: Decodable {
            let subscriptions: [Product]?
        }

        let products: [Product]?
        let nonRenewingSubscriptions: [Product]?
        let subscriptionGroups: [Group]?
    }

    private func configuration(_ name: String) throws -> StoreKitConfiguration {
        let file = try #require(Vectors.files("storekit", prefix: name).first)
        return try StoreKitConfiguration(file: file.path)
    }

    @Test(.enabled(if: Vectors.areAvailable), arguments: Vectors.files("storekit"))
    func `a file from Xcode is written back byte for byte`(file: URL) throws {
        let bytes = try [UInt8](Data(contentsOf: file))
        let configuration = try StoreKitConfiguration(json: bytes, file: file.path)
        #expect(Array(configuration.text.utf8) == bytes)
        // Foundation's own JSON reader finds the same number.
        let root = try JSONDecoder().decode(Root.self, from: Data(bytes))
        let counts =
            [root.products, root.nonRenewingSubscriptions].map { $0?.count ?? 0 }
            + (root.subscriptionGroups ?? []).map { $0.subscriptions?.count ?? 0 }
        #expect(configuration.products.count == counts.reduce(0, +))
    }

    @Test(.enabled(if: Vectors.areAvailable)) func `subscriptions have their groups, levels and offers`() throws {
        let products = try configuration("v2.0-offers").products
        let monthly = try #require(products.first { $0.productIdentifier == "socialfeedplus.monthly" })
        #expect(monthly.type == .autoRenewableSubscription)
        #expect(monthly.price == Price(milliunits: 4990, currency: "USD"))
        #expect(monthly.referenceName == "Social Feed+ (Monthly)")
        let subscription = try #require(monthly.subscription)
        #expect(subscription.groupIdentifier == "20947887")
        #expect(subscription.level == 1)
        #expect(subscription.period == SubscriptionPeriod("P1M"))
        let month = try #require(SubscriptionPeriod("P1M"))
        #expect(
            subscription.offers.prefix(2) == [
                SubscriptionOffer(
                    kind: .introductory, identifier: nil, paymentMode: .payAsYouGo, period: month, periodCount: 3,
                    price: Price(milliunits: 2490, currency: "USD")),
                SubscriptionOffer(
                    kind: .offerCode, identifier: "Free month", paymentMode: .freeTrial, period: month, periodCount: 1,
                    price: nil, eligibility: [.new, .existing, .expired]),
            ])
    }

    @Test(
        .enabled(if: Vectors.areAvailable),
        arguments: [
            ("v1.0", ["subscription": 2]), ("v1.1", ["subscription": 2]), ("v5.0", ["subscription": 2]),
        ] as [(String, [String: Int])])
    func `every version of the format has its subscriptions`(name: String, least: [String: Int]) throws {
        let products = try configuration(name).products
        #expect(products.count { $0.subscription != nil } >= least["subscription"] ?? 0)
        #expect(products.allSatisfy { ($0.type == .autoRenewableSubscription) == ($0.subscription != nil) })
    }

    private static func file(
        products: String = "",
        nonRenewing: String = "",
        subscription: String? = nil,
        settings: String = ""
    ) -> String {
        let group = subscription.map { "{\"id\":\"G\",\"name\":\"Club\",\"subscriptions\":[{\($0)}]}" } ?? ""
        return """
            {"products":[\(products)],"nonRenewingSubscriptions":[\(nonRenewing)],"subscriptionGroups":[\(group)],
             "settings":{\(settings)}}
            """
    }

    private static let fields = #""productID":"p","displayPrice":"1","localizations":[]"#
    private static let monthly =
        fields + #","type":"RecurringSubscription","groupNumber":2,"recurringSubscriptionPeriod":"P1M""#

    @Test(
        arguments: [
            (file(products: "{\(fields),\"type\":\"Consumable\"}"), ProductType.consumable),
            (file(products: "{\(fields),\"type\":\"NonConsumable\"}"), .nonConsumable),
            (file(nonRenewing: "{\(fields),\"type\":\"NonRenewingSubscription\"}"), .nonRenewingSubscription),
            (file(subscription: monthly), .autoRenewableSubscription),
            (
                file(subscription: monthly + #","introductoryOffer":null,"winbackOffers":[]"#),
                .autoRenewableSubscription
            ),
        ] as [(String, ProductType)])
    func `every type of product is read`(text: String, type: ProductType) throws {
        let products = try StoreKitConfiguration(json: Array(text.utf8), file: "f").products
        #expect(products.map(\.type) == [type])
        #expect(products.first?.localization(language: "en") == nil)
    }

    @Test func `bundles and suites of version 6.3 are kept, and are no products`() throws {
        let group = #"[{"id":"B","name":"Everything","subscriptions":[{\#(Self.monthly)}]}]"#
        let text = Self.file(subscription: Self.monthly).replacing(
            #""settings""#,
            with: """
                "subscriptionBundleGroups":\(group), "subscriptionSuiteGroups":\(group),
                 "version":{"major":6,"minor":3}, "settings"
                """)
        let configuration = try StoreKitConfiguration(json: Array(text.utf8), file: "f")
        #expect(configuration.products.map(\.type) == [.autoRenewableSubscription])
        #expect(configuration.text == text)
    }

    @Test(arguments: [
        (#""_storefront":"USA""#, "USD"), (#""_storefront":"KOR""#, "KRW"), (#""_storefront":"XKS""#, "EUR"),
        ("", "USD"),
    ])
    func `the price is in the currency of the storefront`(settings: String, currency: String) throws {
        let text = Self.file(products: "{\(Self.fields),\"type\":\"Consumable\"}", settings: settings)
        let configuration = try StoreKitConfiguration(json: Array(text.utf8), file: "f")
        #expect(configuration.products.first?.price == Price(milliunits: 1000, currency: currency))
    }

    @Test(arguments: [
        (file(products: "{\(fields),\"type\":\"RecurringSubscription\"}"), "products[0].type"),
        (
            file(subscription: fields + #","groupNumber":1"#),
            "subscriptionGroups[0].subscriptions[0].recurringSubscriptionPeriod"
        ),
        (
            file(subscription: fields + #","groupNumber":1,"recurringSubscriptionPeriod":"1 month""#),
            "subscriptionGroups[0].subscriptions[0].recurringSubscriptionPeriod"
        ),
        (
            file(products: "{\(fields),\"type\":\"Consumable\"}", subscription: monthly),
            "subscriptionGroups[0].subscriptions[0].productID"
        ),
        (
            file(
                subscription: monthly
                    + #","adHocOffers":[{"offerID":"o","paymentMode":"barter","subscriptionPeriod":"P1M"}]"#),
            "subscriptionGroups[0].subscriptions[0].adHocOffers[0].paymentMode"
        ),
        (
            file(
                subscription: monthly
                    + #","adHocOffers":[{"offerID":"o","paymentMode":"payUpFront","subscriptionPeriod":"P1M"}]"#),
            "subscriptionGroups[0].subscriptions[0].adHocOffers[0].displayPrice"
        ),
        (file(settings: #""_storefront":"ZZZ""#), "settings._storefront"), ("{}", "products"),
    ])
    func `an error names the key`(text: String, key: String) {
        #expect {
            try StoreKitConfiguration(json: Array(text.utf8), file: "f")
        } throws: { ($0 as? CatalogError)?.key == key }
    }

    @Test(arguments: ["P1D", "P3D", "P1W", "P2W", "P1M", "P2M", "P3M", "P6M", "P1Y", "P999Y"])
    func `a period is written as it was read`(text: String) {
        #expect(SubscriptionPeriod(text)?.description == text)
    }

    @Test(arguments: ["", "P", "P1", "1M", "P0M", "P-1M", "P1000M", "P1H", "PT1M", "P1MM", "p1m", "P١M"])
    func `an invalid period is refused`(text: String) {
        #expect(SubscriptionPeriod(text) == nil)
    }

    @Test(arguments: ["introductoryOffer", "introductoryOffers", "adHocOffers", "winbackOffers"])
    func `an offer with an empty price costs nothing`(key: String) throws {
        let offer =
            #"{"offerID":"o","paymentMode":"payUpFront","subscriptionPeriod":"P1M","displayPrice":""}"#
        let value = key == "introductoryOffer" ? offer : "[\(offer)]"
        let text = Self.file(subscription: Self.monthly + ",\"\(key)\":\(value)")
        let configuration = try StoreKitConfiguration(json: Array(text.utf8), file: "f")
        let subscription = try #require(configuration.products.first?.subscription)
        #expect(subscription.offers.map(\.price) == [Price(milliunits: 0, currency: "USD")])
        #expect(subscription.offers.map(\.paymentMode) == [.payUpFront])
    }

    /// Every optional text of a file, as Xcode and other programs write it before it is filled in.
    @Test(arguments: [
        file(settings: #""_applicationInternalID":"","_locale":"","_storefront":"","_developerTeamID":"""#),
        file(settings: #""_storeKitErrors":[{"current":{"type":"","index":0},"enabled":true,"name":""}]"#),
        file(settings: #""_storeKitErrors":[{"current":{"type":"","index":0},"enabled":true,"name":"Purchase"}]"#),
        file(products: "{\(fields),\"type\":\"Consumable\",\"referenceName\":\"\",\"internalID\":\"\"}"),
        #"{"identifier":"","products":[],"subscriptionOffersKeyPair":{"id":"","privateKey":""},"settings":{"#
            + #"},"appPolicies":{"eula":"","policies":[{"locale":"","policyText":"","policyURL":""}]}}"#,
        #"{"products":[{"productID":"p","displayPrice":"1","type":"Consumable","localizations":["#
            + #"{"locale":"","displayName":"","description":""},{"locale":"","displayName":"b"}]}]}"#,
        file(subscription: monthly + #","referenceName":"","subscriptionGroupID":"""#)
            .replacing(#""name":"Club""#, with: #""name":"""#),
    ])
    func `an empty text equals a missing one`(text: String) throws {
        let configuration = try StoreKitConfiguration(json: Array(text.utf8), file: "f")
        #expect(configuration.text == text)
        #expect(configuration.storefront.countryCode == "USA" && configuration.settings.locale == "en_US")
        #expect(configuration.settings.appAppleIdentifier == nil && configuration.settings.storeKitErrors.isEmpty)
        #expect(configuration.subscriptionOffersKeyPair == nil)
        #expect(configuration.products.allSatisfy { $0.localizations.isEmpty })
    }

    @Test(arguments: [
        (#"{"offerID":"o","paymentMode":"none","subscriptionPeriod":"P1M"}"#, "paymentMode"),
        (#"{"offerID":"o","paymentMode":"none","subscriptionPeriod":"","displayPrice":""}"#, "paymentMode"),
        (#"{"offerID":"o","paymentMode":"","subscriptionPeriod":"P1M"}"#, "paymentMode"),
        (#"{"offerID":"o","subscriptionPeriod":"P1M"}"#, "paymentMode"),
        (#"{"offerID":"","paymentMode":"free","subscriptionPeriod":"P1M"}"#, "offerID"),
        (#"{"paymentMode":"free","subscriptionPeriod":"P1M"}"#, "offerID"),
        (#"{"offerID":"o","paymentMode":"free","subscriptionPeriod":""}"#, "subscriptionPeriod"),
        (#"{"offerID":"o","paymentMode":"free"}"#, "subscriptionPeriod"),
        ("{}", "paymentMode"),
    ])
    func `an unfinished offer is loaded, and not sold`(offer: String, key: String) throws {
        let finished = #"{"offerID":"f","paymentMode":"free","subscriptionPeriod":"P1M"}"#
        for list in ["introductoryOffer", "introductoryOffers", "adHocOffers", "codeOffers", "winbackOffers"] {
            let isIntroductory = list.hasPrefix("introductory")
            guard !isIntroductory || key != "offerID" else { continue }
            let value = list == "introductoryOffer" ? offer : "[\(offer),\(finished)]"
            var text = Self.file(subscription: Self.monthly + ",\"\(list)\":\(value)")
            // The identifier of an offer code is its name.
            if list == "codeOffers" { text.replace("offerID", with: "referenceName") }
            let configuration = try StoreKitConfiguration(json: Array(text.utf8), file: "f")
            #expect(configuration.text == text)
            let subscription = try #require(configuration.products.first?.subscription)
            #expect(subscription.offers.count == (list == "introductoryOffer" ? 0 : 1))
            let isNamed = offer.contains(#""offerID":"o""#) && !isIntroductory
            #expect(subscription.unfinishedOffers.map(\.identifier) == [isNamed ? "o" : nil])
            #expect(
                subscription.unfinishedOffers.map(\.key)
                    == [list == "codeOffers" && key == "offerID" ? "referenceName" : key])
        }
    }

    /// The prices of a billing period and of the commitment, in milliunits; none for a plan that is not sold.
    @Test(
        arguments: [
            (#"{"billingPlanType":"MONTHLY","displayPrice":"4.99","commitmentDisplayPrice":"59.88"}"#, [4990, 59_880]),
            (#"{"billingPlanType":"MONTHLY","displayPrice":"4.99","isEnabled":true}"#, [4990, 59_880]),
            (#"{"billingPlanType":"MONTHLY","displayPrice":"5","commitmentDisplayPrice":"59.99"}"#, [5000, 59_990]),
            (#"{"billingPlanType":"MONTHLY","displayPrice":"4.99","isEnabled":false}"#, []),
            (#"{"billingPlanType":"MONTHLY","displayPrice":""}"#, []),
            (#"{"billingPlanType":"WEEKLY","displayPrice":"4.99"}"#, []), ("{}", []),
        ] as [(String, [Int64])])
    func `an enabled billing plan has its prices`(plan: String, prices: [Int64]) throws {
        for (period, isSold) in [("P1Y", true), ("P1M", false)] {
            let subscription = Self.monthly.replacing("P1M", with: period) + ",\"billingPlans\":[\(plan)]"
            let text = Self.file(subscription: subscription)
            let configuration = try StoreKitConfiguration(json: Array(text.utf8), file: "f")
            #expect(configuration.text == text)
            let read = try #require(configuration.products.first?.subscription)
            #expect(read.billingPlans.flatMap { [$0.price.milliunits, $0.commitmentPrice.milliunits] } == prices)
            #expect((read.monthlyPlan != nil) == (isSold && !prices.isEmpty))
        }
    }

    /// A file as Xcode writes it, with the keys of Xcode 26.5 (billing plans, several introductory offers) and Till's own key for the seats
    /// of Xcode 27, whose form is not published. Keys that nobody knows yet are in every object.
    private static let autumn = """
        {
          "_later" : {
            "bundles" : [

            ]
          },
          "identifier" : "6A0DE301",
          "nonRenewingSubscriptions" : [

          ],
          "products" : [

          ],
          "settings" : {
            "_later" : [
              1.50,
              "\\/"
            ],
            "_storefront" : "DEU",
            "_timeRate" : 1003
          },
          "subscriptionGroups" : [
            {
              "_later" : null,
              "id" : "6A0DE302",
              "localizations" : [

              ],
              "name" : "Plus",
              "subscriptions" : [
                {
                  "_later" : "suite",
                  "adHocOffers" : [
                    {
                      "billingPlanType" : "MONTHLY",
                      "displayPrice" : "1.99",
                      "internalID" : "6A0DE303",
                      "numberOfPeriods" : 3,
                      "offerID" : "spring",
                      "paymentMode" : "payAsYouGo",
                      "referenceName" : "Spring",
                      "subscriptionPeriod" : "P1M"
                    }
                  ],
                  "billingPlans" : [
                    {
                      "billingPlanType" : "BILLED_UPFRONT",
                      "commitmentDisplayPrice" : "49.99",
                      "displayPrice" : "49.99",
                      "internalID" : "6A0DE304",
                      "isEnabled" : true
                    },
                    {
                      "billingPlanType" : "MONTHLY",
                      "commitmentDisplayPrice" : "59.88",
                      "displayPrice" : "4.99",
                      "internalID" : "6A0DE305",
                      "isEnabled" : true
                    },
                    {
                      "billingPlanType" : "LATER",
                      "commitmentDisplayPrice" : "1.00",
                      "displayPrice" : "1.00",
                      "internalID" : "6A0DE306",
                      "isEnabled" : true
                    }
                  ],
                  "codeOffers" : [

                  ],
                  "displayPrice" : "49.99",
                  "familyShareable" : true,
                  "groupNumber" : 1,
                  "internalID" : "6A0DE307",
                  "introductoryOffers" : [
                    {
                      "billingPlanType" : "BILLED_UPFRONT",
                      "internalID" : "6A0DE308",
                      "paymentMode" : "free",
                      "subscriptionPeriod" : "P1W"
                    },
                    {
                      "billingPlanType" : "MONTHLY",
                      "internalID" : "6A0DE309",
                      "paymentMode" : "free",
                      "subscriptionPeriod" : "P1M"
                    }
                  ],
                  "localizations" : [

                  ],
                  "multiSeat" : {
                    "_later" : true,
                    "invitationManagement" : "DEVELOPER",
                    "isEnabled" : true,
                    "priceTiers" : [
                      {
                        "displayPrice" : "39.99",
                        "internalID" : "6A0DE30A",
                        "minimumQuantity" : 6
                      }
                    ]
                  },
                  "productID" : "plus.yearly",
                  "recurringSubscriptionPeriod" : "P1Y",
                  "referenceName" : "Plus",
                  "subscriptionGroupID" : "6A0DE302",
                  "type" : "RecurringSubscription",
                  "winbackOffers" : [

                  ]
                }
              ]
            }
          ],
          "version" : {
            "major" : 6,
            "minor" : 0
          }
        }
        """

    @Test func `a file with billing plans and seats is read, and written back byte for byte`() throws {
        let configuration = try StoreKitConfiguration(json: Array(Self.autumn.utf8), file: "f")
        #expect(Array(configuration.text.utf8) == Array(Self.autumn.utf8))
        let subscription = try #require(configuration.products.first?.subscription)
        #expect(subscription.billingPlans.map(\.type) == [.upFront, .monthly])
        #expect(subscription.monthlyPlan?.price == Price(milliunits: 4990, currency: "EUR"))
        #expect(subscription.monthlyPlan?.commitmentPrice == Price(milliunits: 59_880, currency: "EUR"))
        #expect(subscription.offers.map(\.kind) == [.introductory, .introductory, .promotional])
        #expect(subscription.offers.map(\.billingPlanType) == [.upFront, .monthly, .monthly])
        let seats = subscription.multiSeat
        #expect(seats.isEnabled && seats.invitationManagement == .developer)
        #expect(seats.priceTiers.map(\.minimumQuantity) == [6])
        #expect(seats.priceTiers.map(\.price.milliunits) == [39_990])
    }

    /// The files that the tests and the documentation sell from have these keys, too.
    @Test(arguments: ["Products/Till", "Tests/Support/Garden", "Tests/Service/Year/Year"])
    func `a file of this repository is written back byte for byte`(name: String) throws {
        let file = Project.root.appending(path: "\(name).storekit", directoryHint: .notDirectory)
        let bytes = try [UInt8](Data(contentsOf: file))
        #expect(Array(try StoreKitConfiguration(json: bytes, file: file.path).text.utf8) == bytes)
    }

    @Test(arguments: [
        "{\n  \"products\" : [\n\n  ],\n  \"settings\" : {\n\n  }\n}\n",
        "{\n  \"products\" : [],\n  \"settings\" : {}\n}\n",
        "{\"products\":[ ],\"settings\":{ }}", "{\r\n\t\"products\": [\r\n\t]\r\n}\r\n",
        #"{"products":[],"note":"\u00e9 \/ é","number":1.50e0}"#,
    ])
    func `a file is written back byte for byte, in whatever white space`(text: String) throws {
        let configuration = try StoreKitConfiguration(json: Array(text.utf8), file: "f")
        #expect(Array(configuration.text.utf8) == Array(text.utf8))
    }

    @Test func `a product is at most 128 bytes wide`() {
        #expect(MemoryLayout<Product>.size <= 128)
        #expect(MemoryLayout<SubscriptionOffer>.size <= 128)
        #expect(MemoryLayout<Subscription>.size <= 128)
    }

    @Test func `every storefront has its own number`() {
        #expect(Storefront.all.count == 175)
        #expect(Set(Storefront.all.map(\.identifier)).count == 175)
        #expect(Storefront.all.map(\.countryCode) == Set(Storefront.all.map(\.countryCode)).sorted())
        #expect(Set(Storefront.all.map(\.shortCountryCode)).count == 175)
        #expect(Storefront.all.allSatisfy { $0.shortCountryCode.utf8.count == 2 })
        #expect(Storefront(countryCode: "KOR")?.identifier == "143466")
        #expect(Storefront(countryCode: "UKR")?.shortCountryCode == "UA")
        #expect(Storefront(countryCode: "ZZZ") == nil)
    }
}
