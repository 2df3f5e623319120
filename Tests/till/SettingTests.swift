import Testing
import till

/// The definitions of the settings.
@Suite struct SettingTests {
    @Test func `each default is a value that its setting accepts`() {
        for setting in Setting.all {
            guard let value = setting.defaultValue else { continue }
            switch (setting.kind, value) {
            case (.number(let range), .number(let number)): #expect(range.contains(number), "\(setting.name)")
            case (.choice(let names), .text(let text)): #expect(names.contains(text), "\(setting.name)")
            case (.choices(let names), .texts(let texts)):
                #expect(!texts.isEmpty && texts.allSatisfy(names.contains), "\(setting.name)")
            case (.text, .text), (.texts, .texts), (.flag, .flag): break
            default: Issue.record("the default of \(setting.name) is of another kind")
            }
        }
    }

    @Test func `each name is lower case with hyphens, and each dependency exists`() {
        let names = Set(Setting.all.map(\.name))
        for setting in Setting.all {
            #expect(setting.name.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil, "\(setting.name)")
            #expect(setting.dependency.map(names.contains) ?? true, "\(setting.name)")
            #expect(!setting.description.isEmpty && !setting.description.hasSuffix("."), "\(setting.name)")
        }
    }

    @Test func `a secret has a file beside it`() {
        let names = Set(Setting.all.map(\.name))
        let secrets = Setting.all.filter(\.isSecret)
        #expect(secrets.count == 2)
        for secret in secrets { #expect(names.contains("\(secret.name)-file")) }
    }
}
