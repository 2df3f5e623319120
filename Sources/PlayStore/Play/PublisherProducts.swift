import Proofs

/// The methods of the API on one-time products.
extension PlayBooks {
    /// `monetization.onetimeproducts.get`.
    ///
    /// - Throws: `PublisherError`, `notFound`.
    func apiProduct(_ productId: String, in packageName: String) throws -> OneTimeProduct {
        guard let product = try product(productId, of: packageName) else {
            throw PublisherError.notFound("The one-time product \(productId.prefix(150))")
        }
        return product
    }

    /// `monetization.onetimeproducts.list`.
    func apiProducts(in packageName: String, _ parameters: PublisherParameters) throws -> OneTimeProductList {
        let page = try PublisherPage(parameters)
        let found = try products(of: packageName, after: page.after, limit: page.limit + 1)
        var list = OneTimeProductList(oneTimeProducts: found.isEmpty ? nil : Array(found.prefix(page.limit)))
        list.nextPageToken = page.next(found.map { $0.productId ?? "" })
        return list
    }

    /// `monetization.onetimeproducts.batchGet`. An unknown product fails all.
    func apiProducts(_ identifiers: [String], in packageName: String) throws -> OneTimeProductList {
        try PublisherPage.checkBatch(identifiers, of: "productIds")
        return OneTimeProductList(oneTimeProducts: try identifiers.map { try apiProduct($0, in: packageName) })
    }

    /// `monetization.onetimeproducts.patch`, and each request of `batchUpdate`.
    func update(_ request: OneTimeProductRequests.Update, in packageName: String) throws -> OneTimeProduct {
        guard let update = request.oneTimeProduct else { throw PublisherError.required("oneTimeProduct") }
        guard let productId = update.productId else { throw PublisherError.required("oneTimeProduct.productId") }
        guard let version = request.regionsVersion?.version, !version.isEmpty else {
            throw PublisherError.required("regionsVersion.version")
        }
        let known = try product(productId, of: packageName)
        guard known != nil || request.allowMissing == true else {
            throw PublisherError.notFound("The one-time product \(productId.prefix(150))")
        }
        var product = try known?.updated(to: update, mask: request.updateMask) ?? update
        product.regionsVersion = .init(version: version)
        product = try product.checked(in: packageName).keepingStates(of: known)
        try keep(product)
        return product
    }

    /// `monetization.onetimeproducts.batchUpdate`: all requests, or none.
    func update(_ batch: OneTimeProductRequests.BatchUpdate, in packageName: String) throws -> OneTimeProductList {
        let requests = try checked(batch.requests) { $0.oneTimeProduct?.productId }
        return OneTimeProductList(oneTimeProducts: try requests.map { try update($0, in: packageName) })
    }

    /// `monetization.onetimeproducts.delete`.
    func delete(_ productId: String, in packageName: String) throws {
        _ = try apiProduct(productId, in: packageName)
        try database.execute(
            literal: """
                DELETE FROM one_time_product WHERE package_name = \(packageName) AND product_id = \(productId)
                """)
    }

    /// `monetization.onetimeproducts.batchDelete`: all requests, or none.
    func delete(_ batch: OneTimeProductRequests.BatchDelete, in packageName: String) throws {
        for request in try checked(batch.requests, \.productId) {
            try delete(request.productId ?? "", in: packageName)
        }
    }

    /// `monetization.onetimeproducts.purchaseOptions.batchUpdateStates`: all requests, or none.
    func update(_ batch: OneTimeProductRequests.BatchUpdateStates, of productId: String, in packageName: String) throws
        -> OneTimeProductList
    {
        let requests = batch.requests ?? []
        guard (1...OneTimeProductRequests.maximumBatch).contains(requests.count) else {
            throw PublisherError.required("requests")
        }
        return OneTimeProductList(
            oneTimeProducts: try requests.map { request in
                let activated = request.activatePurchaseOptionRequest
                guard let place = activated ?? request.deactivatePurchaseOptionRequest else {
                    throw PublisherError.required("requests.activatePurchaseOptionRequest")
                }
                // The product `-` in the path stands for those of the requests.
                guard let named = place.productId, [named, "-"].contains(productId) else {
                    throw PublisherError.invalidValue("requests.productId", "it has to be that of the path.")
                }
                let product = try apiProduct(named, in: packageName)
                    .setting(activated == nil ? .inactive : .active, of: place.purchaseOptionId)
                try keep(product)
                return product
            })
    }

    /// The requests of a batch, each about another product.
    private func checked<Request>(_ requests: [Request]?, _ productId: (Request) -> String?) throws -> [Request] {
        guard let requests, !requests.isEmpty else { throw PublisherError.required("requests") }
        guard requests.count <= OneTimeProductRequests.maximumBatch,
            Set(requests.map { productId($0) ?? "" }).count == requests.count
        else {
            throw PublisherError.invalidValue(
                "requests", "1 to \(OneTimeProductRequests.maximumBatch) about different products.")
        }
        return requests
    }
}
