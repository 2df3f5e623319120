import Proofs

/// The methods of the API on the resources of catalogs, for all kinds.
extension PlayBooks {
    /// `get`.
    ///
    /// - Throws: `PublisherError`, `notFound`.
    func found<Resource: CatalogRules>(at place: CatalogPlace) throws -> Resource {
        let levels = try place.levels(of: Resource.self)
        let found: Resource? = try resource(levels, of: place.packageName ?? "")
        guard let found else { throw notFound(Resource.self, levels) }
        return found
    }

    private func notFound<Resource: CatalogRules>(_ type: Resource.Type, _ levels: [String]) -> PublisherError {
        .notFound("\(Resource.noun) \((levels.last ?? "").prefix(150))")
    }

    /// `list`. The identifier `-` in the path stands for all.
    func list<Resource: CatalogRules>(at place: CatalogPlace, _ parameters: PublisherParameters) throws
        -> CatalogList<Resource>
    {
        let page = try PublisherPage(parameters)
        let parents = Resource.identifiers.dropLast().map { identifier in
            place[keyPath: identifier.place].flatMap { $0 == "-" ? nil : $0 }
        }
        let found: [(path: String, resource: Resource)] = try resources(
            of: place.packageName ?? "", under: parents, after: page.after, limit: page.limit + 1)
        return CatalogList(
            found.prefix(page.limit).map(\.resource), nextPageToken: page.next(found.map(\.path)))
    }

    /// `batchGet` of products. An unknown one fails all.
    func found<Resource: CatalogRules>(_ identifiers: [String], at place: CatalogPlace) throws -> CatalogList<Resource>
    {
        try PublisherPage.checkBatch(identifiers, of: "productIds")
        return CatalogList(
            try identifiers.map { productId in
                var place = place
                place.productId = productId
                return try found(at: place)
            })
    }

    /// `batchGet` of offers. An unknown one fails all.
    func found<Resource: CatalogRules>(_ batch: CatalogBatch<CatalogPlace>, at place: CatalogPlace) throws
        -> CatalogList<Resource>
    {
        CatalogList(try places(batch, at: place, of: Resource.self).map { try found(at: $0) })
    }

    /// `create`. The new resource is a draft.
    func create<Resource: CatalogRules>(_ resource: Resource, at place: CatalogPlace, regionsVersion: String?) throws
        -> Resource
    {
        let resource = try resource.placed(at: place)
        let known: Resource? = try self.resource(resource.levels, of: place.packageName ?? "")
        guard known == nil else {
            throw PublisherError.alreadyExists("\(Resource.noun) \((resource.levels.last ?? "").prefix(150))")
        }
        return try update(
            CatalogUpdate(resource: resource, updateMask: nil, allowMissing: true, regionsVersion: regionsVersion),
            at: place)
    }

    /// `patch`, and each request of `batchUpdate`. A new resource ignores the mask.
    func update<Resource: CatalogRules>(_ request: CatalogUpdate<Resource>, at place: CatalogPlace) throws -> Resource {
        guard let update = try request.resource?.placed(at: place) else {
            throw PublisherError.required(Resource.field)
        }
        guard let regionsVersion = request.regionsVersion, let version = regionsVersion.version, !version.isEmpty else {
            throw PublisherError.required("regionsVersion.version")
        }
        guard version.wholeMatch(of: /[0-9]{4}\/[0-9]{2}/) != nil else {
            throw PublisherError.invalidValue("regionsVersion.version", "a year and a number, such as 2025/03.")
        }
        let packageName = place.packageName ?? ""
        let known: Resource? = try resource(update.levels, of: packageName)
        guard known != nil || request.allowMissing == true else { throw notFound(Resource.self, update.levels) }
        let changed = try known?.updated(to: update, mask: request.updateMask) ?? update
        let settled = try changed.checked(in: packageName).settled(after: known, regionsVersion: regionsVersion)
        try settled.checkParent(in: self)
        try keep(settled)
        // Parts that the update leaves out lose their offers.
        if let known, let offers = Resource.offers {
            for part in Set(known.parts).subtracting(settled.parts) {
                try removeOffers(offers, under: settled.levels + [part], of: packageName)
            }
        }
        return settled
    }

    /// `batchUpdate`: all requests, or none.
    func update<Resource: CatalogRules>(_ batch: CatalogBatch<CatalogUpdate<Resource>>, at place: CatalogPlace) throws
        -> CatalogList<Resource>
    {
        let requests = try checked(batch) { request in
            try request.resource?.placed(at: place).levels ?? []
        }
        return CatalogList(try requests.map { try update($0, at: place) })
    }

    /// `delete` of a resource with its offers.
    func delete<Resource: CatalogRules>(_ type: Resource.Type, at place: CatalogPlace) throws {
        let resource: Resource = try found(at: place)
        try resource.checkDeletion()
        try remove(resource)
        if let offers = Resource.offers {
            try removeOffers(offers, under: resource.levels, of: place.packageName ?? "")
        }
    }

    /// `batchDelete`: all requests, or none.
    func delete<Resource: CatalogRules>(
        _ type: Resource.Type, _ batch: CatalogBatch<CatalogPlace>, at place: CatalogPlace
    ) throws {
        for place in try places(batch, at: place, of: type) { try delete(type, at: place) }
    }

    /// `activate`, `deactivate` and `cancel`.
    func change<Resource: CatalogRules>(_ action: CatalogAction, at place: CatalogPlace) throws -> Resource {
        var resource: Resource = try found(at: place)
        try resource.apply(action, at: place)
        try keep(resource)
        // "The offer is cancelled and not available to users. All pending orders related to this offer were cancelled" (`CANCELLED`).
        if action == .cancel, let offer = resource as? OneTimeProductOffer {
            for purchase in try purchases.preorders(of: offer) { _ = try cancel(purchase.number) }
        }
        return resource
    }

    /// `batchUpdateStates`: all requests, or none. Each has one member, named by its action.
    func change<Resource: CatalogRules>(_ batch: CatalogBatch<[String: CatalogPlace]>, at place: CatalogPlace) throws
        -> CatalogList<Resource>
    {
        var changes: [(action: CatalogAction, place: CatalogPlace)] = []
        for request in batch.requests ?? [] {
            let action = CatalogAction.allCases.first { request[Self.member($0, Resource.self)] != nil }
            guard let action, let named = request[Self.member(action, Resource.self)], request.count == 1 else {
                throw PublisherError.required("requests.\(Self.member(.activate, Resource.self))")
            }
            changes.append((action, try place.place(of: named)))
        }
        _ = try checked(CatalogBatch(requests: changes.map(\.place))) { $0 }
        return CatalogList(try changes.map { try change($0.action, at: $0.place) })
    }

    /// The member of a request that changes a state: `activateBasePlanRequest`.
    private static func member<Resource: CatalogRules>(_ action: CatalogAction, _ type: Resource.Type) -> String {
        "\(action.rawValue)\(Resource.stateSubject)Request"
    }

    /// The places of a batch, each another one.
    func places<Resource: CatalogRules>(
        _ batch: CatalogBatch<CatalogPlace>, at place: CatalogPlace, of type: Resource.Type
    ) throws -> [CatalogPlace] {
        let places = try (batch.requests ?? []).map { try place.place(of: $0) }
        return try checked(CatalogBatch(requests: places)) { try $0.levels(of: type) }
    }

    /// The 1 to 100 requests of a batch, each with another key.
    func checked<Element, Key: Hashable>(_ batch: CatalogBatch<Element>, _ key: (Element) throws -> Key) throws
        -> [Element]
    {
        guard let requests = batch.requests, !requests.isEmpty else { throw PublisherError.required("requests") }
        guard requests.count <= PublisherPage.maximumBatch, try Set(requests.map(key)).count == requests.count else {
            throw PublisherError.invalidValue(
                "requests", "1 to \(PublisherPage.maximumBatch) about different products, plans, options or offers.")
        }
        return requests
    }
}

/// The methods of the API on the parts of products: base plans and purchase options.
extension PlayBooks {
    /// `monetization.subscriptions.basePlans.delete`: of a draft alone, with its offers.
    func deleteBasePlan(at place: CatalogPlace) throws {
        var product: CatalogSubscription = try found(at: place)
        let index = try product.index(ofPlan: place.basePlanId)
        guard let plan = product.basePlans?.remove(at: index), plan.state == .draft else {
            throw PublisherError.failedPrecondition("Only a draft of a base plan can be deleted.")
        }
        try keep(product)
        try removeOffers(
            CatalogOffer.self, under: product.levels + [plan.basePlanId ?? ""], of: place.packageName ?? "")
    }

    /// `monetization.subscriptions.archive`. Google does not support it anymore.
    func archive(at place: CatalogPlace) throws -> CatalogSubscription {
        _ = try found(at: place) as CatalogSubscription
        throw PublisherError.failedPrecondition("Subscription archiving is not supported.")
    }

    /// `monetization.onetimeproducts.purchaseOptions.batchDelete`: all requests, or none. An option with offers is deleted by force.
    func deletePurchaseOptions(_ batch: CatalogBatch<CatalogPlace>, at place: CatalogPlace) throws {
        for place in try places(batch, at: place, of: OneTimeProduct.self) {
            var product: OneTimeProduct = try found(at: place)
            let index = try product.index(ofOption: place.purchaseOptionId)
            let levels = product.levels + [place.purchaseOptionId ?? ""]
            let (offers, packageName) = (OneTimeProductOffer.self, place.packageName ?? "")
            guard try place.force == true || countOffers(offers, under: levels, of: packageName) == 0 else {
                throw PublisherError.failedPrecondition("The purchase option has offers. Delete them, or use force.")
            }
            product.purchaseOptions?.remove(at: index)
            guard product.purchaseOptions?.isEmpty == false else {
                throw PublisherError.failedPrecondition("A product needs a purchase option. Delete the product.")
            }
            try keep(product)
            try removeOffers(offers, under: levels, of: packageName)
        }
    }
}

/// A page of a list of the catalog. Its token is the last identifier of the page before.
struct PublisherPage {
    private static let standardSize = 50
    private static let maximumSize = 1000
    /// The maximum number of identifiers or requests in a batch.
    static let maximumBatch = 100

    let after: String
    let limit: Int

    /// - Parameters:
    ///   - sizeName: The parameter with the size of the page.
    ///   - tokenName: The parameter with the token of the page.
    /// - Throws: `PublisherError`, `invalidValue`.
    init(_ parameters: PublisherParameters, size sizeName: String = "pageSize", token tokenName: String = "pageToken")
        throws(PublisherError)
    {
        let size = try parameters.integer(sizeName) ?? 0
        guard size >= 0 else { throw .invalidValue(sizeName, "it may not be negative.") }
        limit = size == 0 ? Self.standardSize : min(size, Self.maximumSize)
        guard let token = parameters[tokenName] else {
            after = ""
            return
        }
        guard let bytes = Base64.decode(token.utf8, .urlSafe) else {
            throw .invalidValue(tokenName, "it is of no page.")
        }
        after = String(decoding: bytes, as: UTF8.self)
    }

    /// The token of the next page; nil after the last one.
    ///
    /// - Parameter found: The identifiers of the page, and one more if there is a next page.
    func next(_ found: [String]) -> String? {
        found.count > limit ? Base64.encode(found[limit - 1].utf8, .urlSafe) : nil
    }

    /// - Throws: `PublisherError` unless a batch names 1 to 100 different identifiers.
    static func checkBatch(_ identifiers: [String], of parameter: String) throws(PublisherError) {
        guard !identifiers.isEmpty else { throw .required(parameter) }
        guard identifiers.count <= maximumBatch, Set(identifiers).count == identifiers.count else {
            throw .invalidValue(parameter, "name 1 to \(maximumBatch) different ones.")
        }
    }
}
