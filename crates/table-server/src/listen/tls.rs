//! TLS: certificates by files, which can be read anew.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto};
use tokio_rustls::server::TlsStream;

/// A certificate and its key. Clones are one: when one is read anew, so are the others.
#[derive(Clone)]
pub struct Tls(Arc<Files>);

struct Files {
    certificate: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<ServerConfig>>,
}

/// Files are of no use for TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsError(String);

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TlsError {}

/// The key is not shown.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("certificate", &self.0.certificate).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads a certificate, with those that lead to its authority behind it, and its private key: two files of PEM, which
    /// may be one.
    pub fn read(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Result<Self, TlsError> {
        let (certificate, key) = (certificate.into(), key.into());
        let current = RwLock::new(configuration(&certificate, &key)?);
        Ok(Self(Arc::new(Files { certificate, key, current })))
    }

    /// Reads the files anew, for connections to come. If they are of no use, all stays as it is.
    pub fn reload(&self) -> Result<(), TlsError> {
        let anew = configuration(&self.0.certificate, &self.0.key)?;
        *self.0.current.write().unwrap_or_else(PoisonError::into_inner) = anew;
        Ok(())
    }

    /// Carries out the handshake.
    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let current = self.0.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        TlsAcceptor::from(current).accept(stream).await
    }
}

fn configuration(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let certificates = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| of_file("the certificate", certificate, &error))?;
    if certificates.is_empty() {
        return Err(of_file("the certificate", certificate, &"it holds no `BEGIN CERTIFICATE`"));
    }
    let private =
        PrivateKeyDer::from_pem_file(key).map_err(|error| of_file("the private key", key, &error))?;
    let mut configuration = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, private))
        .map_err(|error| of_file("the private key of the certificate", key, &error))?;
    configuration.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(configuration))
}

/// Returns an error that names the file and, since neither library shows bytes of a key, their reason.
fn of_file(what: &str, path: &Path, reason: &dyn fmt::Display) -> TlsError {
    TlsError(format!("{what} in `{}` can't be used: {reason}", path.display()))
}
