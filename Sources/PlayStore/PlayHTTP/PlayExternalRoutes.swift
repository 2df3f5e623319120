import HTTPSupport
import HTTPTypes
import Hummingbird

/// A token of an app as the sandbox and the commands show it.
package struct PlayExternalTokenResource: AnswerObject, Codable, Sendable {
    package static let answerFields = AnswerFields<Self>(
        "The token with which the sales of a customer outside Google's billing are reported.",
        named: "ExternalTransactionToken"
    ) {
        $0.field("externalTransactionToken", "The token.", \.externalTransactionToken)
        $0.field("packageName", "The app.", \.packageName)
        $0.field("billingProgram", .one(of: BillingProgram.self, "Google's program."), \.billingProgram)
        $0.field("createTime", .time("The moment at which the app got it."), \.createTime)
    }

    package let externalTransactionToken: String
    package let packageName: String
    package let billingProgram: String
    package let createTime: String

    package init(_ token: ExternalTransactionToken) {
        (externalTransactionToken, packageName) = (token.externalTransactionToken, token.packageName)
        (billingProgram, createTime) = (token.billingProgram.rawValue, token.createTime.rfc3339)
    }
}

/// An app outside Google Play as the sandbox and the commands show it.
package struct PlayExternalAppResource: AnswerObject, Listed, Codable, Sendable {
    package static let listName = "externalApps"
    package static let answerFields = AnswerFields<Self>("An app outside Google Play.", named: "ExternalApp") {
        $0.field("packageName", "The app that links to it.", \.packageName)
        $0.field("installedAppPackage", "Its package name.", \.installedAppPackage)
        $0.field("category", .one(of: ExternalApp.Category.self, "Its category."), \.category)
    }

    package let packageName: String
    package let installedAppPackage: String
    package let category: String

    package init(_ app: ExternalApp) {
        (packageName, installedAppPackage) = (app.packageName, app.installedAppPackage)
        category = app.category.rawValue
    }
}

/// Tokens of apps for sales outside Google's billing, and the registered apps outside Google Play.
extension PlaySandboxRoutes {
    func addExternalSales(to group: RouterGroup<ServiceContext>) {
        group.on(.makeExternalToken) { request, context in
            let body = try await SandboxBody.decode(request, context, as: ExternalTokenRequest.self)
            return try await answer(.created) { books in
                try PlayExternalTokenResource(
                    books.makeExternalTransactionToken(of: body.packageName, in: body.billingProgram)
                ).json()
            }
        }
        group.on(.listExternalApps) { _, _ in
            try await answer { try List(try $0.externalApps().map { PlayExternalAppResource($0) }).json() }
        }
        group.on(.addExternalApp) { request, context in
            let body = try await SandboxBody.decode(request, context, as: ExternalAppRequest.self)
            guard PackageName.isValid(body.installedAppPackage) else {
                throw JSONBody.invalid(
                    "The field /installedAppPackage must be a package name, such as com.example.app.")
            }
            let app = ExternalApp(
                packageName: body.packageName, installedAppPackage: body.installedAppPackage, category: body.category)
            return try await answer(.created) { books in
                try books.register(app)
                return try PlayExternalAppResource(app).json()
            }
        }
    }
}
