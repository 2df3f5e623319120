import Catalog
import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The actions on a product: picture, withdrawal, return to sale, and the definition of the files.
struct ProductChangeRoutes: Sendable {
    let catalog: CatalogService

    func add(to pages: ConsolePages) {
        pages.post("products/:product/picture", .catalog) { request, context in try await setPicture(request, context) }
        pages.post("products/:product/withdrawal", .catalog) { request, context in
            try await setWithdrawn(true, request, context)
        }
        pages.post("products/:product/return", .catalog) { request, context in
            try await setWithdrawn(false, request, context)
        }
        pages.post("products/:product/reversion", .catalog) { request, context in
            let (address, caller) = try target(request, context)
            try await catalog.make {
                try await catalog.revert(address.productIdentifier, in: address.app, by: caller)
            }
            // The files may not have the product.
            return address.product == nil
                ? ConsolePath("products", query: ["done": Notice.removed.rawValue]) : address.path(done: .restored)
        }
    }

    private func target(
        _ request: Request, _ context: ConsoleContext
    ) throws -> (address: ProductAddress, caller: String) {
        (try ProductAddress(request, context, of: catalog.apps), try context.requiredMember.caller)
    }

    private func setWithdrawn(
        _ isWithdrawn: Bool, _ request: Request, _ context: ConsoleContext
    ) async throws -> ConsolePath {
        let (address, caller) = try target(request, context)
        try await catalog.make {
            try catalog.setWithdrawn(isWithdrawn, address.productIdentifier, in: address.app, by: caller)
        }
        return address.path(done: isWithdrawn ? .withdrawn : .restored)
    }

    private func setPicture(_ request: Request, _ context: ConsoleContext) async throws -> ConsolePath {
        let (address, caller) = try target(request, context)
        let bytes = context.form.bytes("picture") ?? []
        let picture = try await BlockingWork.process(bytes.count) {
            do throws(CatalogError) { return try Picture(bytes: bytes, file: "picture") } catch {
                throw CatalogChangeError.pictureInvalid(error)
            }
        }
        try await catalog.make {
            try catalog.setPicture(picture, of: address.productIdentifier, in: address.app, by: caller)
        }
        return address.path(done: .saved)
    }
}

extension CatalogService {
    /// Makes a change to the present catalog.
    ///
    /// - Throws: `Problem`, `tooBusy`; the errors of `perform`.
    @discardableResult
    func make(_ prepare: () async throws -> Pending?) async throws -> Outcome {
        guard let outcome = try await perform(prepare) else { throw Problem.tooBusy }
        return outcome
    }
}
